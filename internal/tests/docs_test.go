package tests

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"example.com/prospectkit/sandbox"
)

// byHand is the first block of docs/migration.md: the test below compares them.
func byHand(ctx context.Context, base, token string) error {
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, base+"/business/lists?pageNum=1&limit=1000", http.NoBody)
	if err != nil {
		return err
	}
	req.SetBasicAuth(token, "")
	resp, err := http.DefaultClient.Do(req)
	if err != nil {
		return err
	}
	defer resp.Body.Close()
	body, err := io.ReadAll(resp.Body)
	if err != nil {
		return err
	}
	if resp.StatusCode != http.StatusOK {
		return fmt.Errorf("%s: %s", resp.Status, body)
	}
	var page struct {
		Data []struct{ Name string } `json:"data"`
	}
	if err := json.Unmarshal(body, &page); err != nil {
		return err
	}
	for _, list := range page.Data {
		fmt.Println(list.Name)
	}
	return nil
}

// What the guide shows as done by hand works, with the names that the service knows.
func TestDocs_MigrationGuide(t *testing.T) {
	guide, err := os.ReadFile(Path("docs", "migration.md"))
	require.NoError(t, err)
	_, rest, ok := strings.Cut(string(guide), "```go\n")
	require.True(t, ok)
	block, _, _ := strings.Cut(rest, "```")
	source, err := os.ReadFile("docs_test.go")
	require.NoError(t, err)
	_, rest, _ = strings.Cut(string(source), "func byHand(ctx context.Context, base, token string) error {\n")
	body, _, _ := strings.Cut(rest, "\treturn nil\n}")
	require.Equal(t, block, strings.ReplaceAll("\n"+body, "\n\t", "\n")[1:])

	const lists = 60 // more than there are on a page by default
	sb := sandbox.New(t)
	sb.Do(func(tx *sandbox.Tx) {
		for i := range lists {
			tx.CreateList(sandbox.List{Name: fmt.Sprintf("List %d", i)})
		}
	})
	var got struct{ Data []json.RawMessage }
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		recorder := httptest.NewRecorder()
		sb.Handler().ServeHTTP(recorder, r)
		w.WriteHeader(recorder.Code)
		_, _ = w.Write(recorder.Body.Bytes())
		_ = json.Unmarshal(recorder.Body.Bytes(), &got)
	}))
	defer server.Close()
	out, in, err := os.Pipe()
	require.NoError(t, err)
	console := os.Stdout
	os.Stdout = in // which holds what this prints
	err = byHand(t.Context(), server.URL+"/api/v1", sb.Token())
	os.Stdout = console
	require.NoError(t, err)
	require.NoError(t, in.Close())
	printed, err := io.ReadAll(out)
	require.NoError(t, err)
	require.Equal(t, lists, strings.Count(string(printed), "List "))
	require.Len(t, got.Data, lists, "limit is the name of the size of a page")
}
