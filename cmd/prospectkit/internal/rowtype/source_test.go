package rowtype

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"example.com/prospectkit/internal/golden"
)

// lists are rows that a type has to hold, by the name of a golden file.
var lists = map[string][]string{
	"empty": {},
	"nulls": {
		`{"id":"1","always":"CANARY","null":null,"sometimes":null,"lacking":1,"both":true,"list":null,"lists":["CANARY",null],"object":null}`,
		`{"id":"2","always":"","null":null,"sometimes":"CANARY","both":null,"list":[],"lists":[],"object":{"a":1}}`,
		`{"id":"3","always":"CANARY","null":null,"sometimes":"","lacking":0,"list":[1],"lists":["CANARY"],"object":{"a":2,"b":[]}}`,
	},
	"mixed": {
		`{"id":"1","mixed":"CANARY","numbers":1,"floats":1,"big":12345678901234567890,"written":1.50,"list":[1,"CANARY"],"deep":{"x":[{"y":1},{"y":"CANARY"}]}}`,
		`{"id":"2","mixed":7,"numbers":9007199254740993,"floats":1.5,"big":1,"written":2,"list":[null],"deep":{"x":[{"y":null},{}]}}`,
		`{"id":"3","mixed":{"a":1},"numbers":-9223372036854775808,"floats":1e+21,"big":0.1,"written":-0,"list":[],"deep":{"x":[]}}`,
	},
	"names": {
		`{"":1,"-":2,"a b":3,"func":4,"2024 revenue":5,"🎯":6,"it's":"CANARY","say \"hi\"":8,"back` + "`" + `tick":9,"a,b":10,"a\\b":11}`,
		`{"Name":1,"name":2,"NAME":3,"na-me":4,"größe":5,"名前":6,"Other":7,"MarshalJSON":8,"json":"CANARY","` + strings.Repeat("long ", 60) + `":10}`,
	},
	"plain": { // tags hold all of these
		`{"Name":1,"name":2,"NAME":3,"a b":4,"a.b":5,"func":6,"2024":7,"größe":8,"名前":9,"createdAt":"2026-01-02T03:04:05.000Z","seen":"2026-01-02T03:04:05Z","company":{"name":"CANARY","address":{"city":"CANARY"}}}`,
		`{"Name":1,"name":2,"a b":4,"a.b":5,"func":6,"2024":7,"größe":8,"名前":9,"createdAt":"2026-01-02T03:04:05.120Z","seen":"2026-01-02T03:04:05+01:00","company":{"name":"CANARY","address":null}}`,
		`{"name":"CANARY","seen":null,"company":{"name":"CANARY","address":{"city":"CANARY"},"Domain":"CANARY"}}`,
	},
	"data": { // keys that must not be in the file
		`{"id":"1","` + secretAddress + `":1,"65f0c0ffee65f0c0ffee65f0":"CANARY","scores":{"` + secretAddress + `":1},"by":{"Jane CANARY":1,"name":"x"},"days":{"2026-01-02":[1]}}`,
		`{"id":"2","scores":{"b` + secretAddress + `":2,"+49 30 1234567":null},"by":{"John CANARY":2,"name":"y"},"days":{"2026-01-03":[1,2.5]}}`,
		`{"id":"3","scores":{},"by":{"Joe CANARY":3,"name":"z"},"sparse":{"CANARYa":1}}`,
		`{"id":"4","by":{"Jim CANARY":3,"name":"z"},"sparse":{"CANARYb":2}}`,
		`{"id":"5","by":{"Jil CANARY":3,"name":"z"},"sparse":{"CANARYc":3}}`,
		`{"id":"6","by":{"Jon CANARY":3,"name":"z"},"sparse":{"CANARYd":3}}`,
	},
	"columns": {
		`{"id":"1","customColumns":{"a5f0c0ffee65f0c0ffee65f0":1,"b5f0c0ffee65f0c0ffee65f0":"CANARY","c5f0c0ffee65f0c0ffee65f0":true}}`,
		`{"id":"2","customColumns":{"a5f0c0ffee65f0c0ffee65f0":null,"b5f0c0ffee65f0c0ffee65f0":"CANARY","e5f0c0ffee65f0c0ffee65f0":2}}`,
		`{"id":"3","customColumns":{"a5f0c0ffee65f0c0ffee65f0":1.5,"b5f0c0ffee65f0c0ffee65f0":null}}`,
	},
}

func TestRows_Golden(t *testing.T) {
	for name, rows := range lists {
		text := source(t, testColumns, rows...)
		require.NotContains(t, text, secret, name)
		require.True(t, IsWritten([]byte(text)))
		golden.Equal(t, filepath.Join("testdata", name+".go.golden"), text)
	}
}

// batch is a program with types, and the rows that it decodes.
type batch struct {
	dir           string
	files         map[string]string // the overlay
	registry      strings.Builder
	Rows, Fitting map[string][]json.RawMessage
	rows, fitting int
}

func (b *batch) write(t *testing.T, name, text string) {
	t.Helper()
	b.files[filepath.Join("testdata", "batch", name)] = filepath.Join(b.dir, name)
	require.NoError(t, os.WriteFile(filepath.Join(b.dir, name), []byte(text), 0o600))
}

// add writes a type for rows. Others fit it, by what the comparison says, or are left out.
func (b *batch) add(t *testing.T, name string, iterate bool, rows, others []string) {
	t.Helper()
	described := newRows(t, name, testColumns, rows...)
	described.Package = "batch"
	text, err := described.Source()
	require.NoError(t, err, rows)
	b.write(t, strings.ToLower(name)+"_test.go", string(text))
	also := ""
	if iterate {
		also = fmt.Sprintf("iterate[%s](t, rows)\n", name)
	}
	fmt.Fprintf(&b.registry, "checks[%q] = func(t *testing.T, rows, fitting []json.RawMessage) {\ntry[%s](t, rows, fitting)\n%s}\n", name, name, also)
	b.Rows[name] = []json.RawMessage{} // not null
	for _, row := range rows {
		b.Rows[name] = append(b.Rows[name], json.RawMessage(row))
		b.rows++
	}
	file, err := ReadFile(text, name)
	require.NoError(t, err)
	for _, row := range others {
		fits := NewFits(file, nil)
		require.NoError(t, fits.Add([]byte(row)))
		if len(fits.Mismatches()) == 0 {
			b.Fitting[name] = append(b.Fitting[name], json.RawMessage(row))
			b.fitting++
		}
	}
}
