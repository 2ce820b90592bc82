package main

import (
	"go/ast"
	"go/parser"
	"go/token"
	"strconv"
	"testing"

	"github.com/jackc/pgx/v5"
	"github.com/stretchr/testify/require"
)

// copySQL are the statements of examples/copy, by the names of their constants.
func copySQL(t *testing.T) map[string]string {
	t.Helper()
	file, err := parser.ParseFile(token.NewFileSet(), "../copy/main.go", nil, 0)
	require.NoError(t, err)
	found := map[string]string{}
	ast.Inspect(file, func(n ast.Node) bool {
		if spec, ok := n.(*ast.ValueSpec); ok && len(spec.Values) == 1 {
			if text, ok := spec.Values[0].(*ast.BasicLit); ok {
				found[spec.Names[0].Name], err = strconv.Unquote(text.Value)
				require.NoError(t, err)
			}
		}
		return true
	})
	return found
}

// The SQL of examples/copy runs on PostgreSQL, in transactions that each copy all rows: it changes those that differ, and drops those that are gone.
func TestCopySQL(t *testing.T) {
	sql := copySQL(t)
	d, err := startDatabase(t.Context())
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, d.Remove()) })
	run := func(change string, rows ...[2]string) (changed int64) {
		conn, err := pgx.Connect(t.Context(), d.DSN("")) // temporary tables end with it
		require.NoError(t, err)
		defer conn.Close(t.Context())
		require.NoError(t, pgx.BeginFunc(t.Context(), conn, func(tx pgx.Tx) error {
			_, err := tx.Exec(t.Context(), sql["tables"])
			require.NoError(t, err)
			for _, row := range rows {
				_, err := tx.Exec(t.Context(), sql["add"], row[0], row[1])
				require.NoError(t, err)
			}
			tag, err := tx.Exec(t.Context(), change)
			changed = tag.RowsAffected()
			return err
		}))
		return changed
	}
	merge, drop := sql["merge"], sql["drop"]
	require.Equal(t, int64(2), run(merge, [2]string{"1", "Ada"}, [2]string{"2", "Alan"}, [2]string{"2", "Alan T."}))
	require.Zero(t, run(merge, [2]string{"1", "Ada"}, [2]string{"2", "Alan T."}))
	require.Equal(t, int64(1), run(merge, [2]string{"2", "Alan"}))
	require.Zero(t, run(merge+drop, [2]string{"1", "Ada"}, [2]string{"2", "Alan"}))
	require.Equal(t, int64(1), run(merge+drop, [2]string{"2", "Alan"}), "of the last statement")
	require.Equal(t, int64(1), run(merge, [2]string{"1", "Ada"}), "it was dropped")
}
