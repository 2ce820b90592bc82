package tests

import (
	"bytes"
	"encoding/json"
	"fmt"
	"go/ast"
	"io"
	"maps"
	"net/http"
	"os"
	"reflect"
	"regexp"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"example.com/prospectkit"
	"example.com/prospectkit/internal/op"
	"example.com/prospectkit/sandbox"
)

// undocumented is what the service adds to each object.
const undocumented = `"notInTheDocument" : { "deep":  7 }`

// embellished adds an undocumented field to each object of a response, and keeps the last text.
type embellished struct {
	base http.RoundTripper
	last []byte
}

func (e *embellished) RoundTrip(r *http.Request) (*http.Response, error) {
	resp, err := e.base.RoundTrip(r)
	if err != nil {
		return nil, err
	}
	body, err := io.ReadAll(resp.Body)
	if err != nil {
		return nil, err
	}
	e.last = bytes.ReplaceAll(body, []byte(`{"`), []byte(`{`+undocumented+`, "`))
	resp.Body, resp.ContentLength = io.NopCloser(bytes.NewReader(e.last)), int64(len(e.last))
	resp.Header.Del("Content-Length")
	return resp, nil
}

// textsOf are the texts that the records of a result keep, with the records.
func textsOf(t *testing.T, result reflect.Value, visit func(record any, text string)) {
	t.Helper()
	switch v := result.Interface().(type) {
	case interface{ Raw() json.RawMessage }:
		visit(v, string(v.Raw()))
		return
	case interface{ Raw() prospectkit.Object }:
		if result.Kind() != reflect.Pointer || !result.Elem().FieldByName("Items").IsValid() { // a page is no record
			visit(v, v.Raw().String())
		}
	}
	switch result.Kind() {
	case reflect.Pointer:
		if items := result.Elem().FieldByName("Items"); items.IsValid() {
			textsOf(t, items, visit)
		} else if columns := result.Elem().FieldByName("Columns"); columns.IsValid() {
			textsOf(t, columns, visit)
		}
	case reflect.Slice:
		for i := range result.Len() {
			textsOf(t, result.Index(i).Addr(), visit)
		}
	default:
		t.Fatalf("%s is no record", result.Type())
	}
}

// Each record keeps exactly the text that the service sent for it. Neither its JSON nor what fmt prints of
// the documented ones shows it.
func TestRecords_KeepTheirText(t *testing.T) {
	kept := make(map[string]int)
	for name, anyCall := range EveryCall {
		synctest.Test(t, func(t *testing.T) {
			sb := EverySandbox(t, time.Now())
			transport := &embellished{base: sb.Transport()}
			result, err := anyCall(t.Context(), SandboxClient(t, sb, prospectkit.WithTransport(transport)))
			require.NoError(t, err, name)
			textsOf(t, reflect.ValueOf(result), func(record any, text string) {
				of := reflect.TypeOf(record).Elem().Name()
				kept[of]++
				require.Contains(t, string(transport.last), text, name)
				require.True(t, json.Valid([]byte(text)), "%s: %s", name, text)
				require.True(t, strings.HasPrefix(text, "{"+undocumented), "%s: %s is %q", name, of, text)
				if _, whole := record.(interface{ Raw() json.RawMessage }); whole || of == "StepPreview" {
					return
				}
				require.NotContains(t, jsonOf(t, record), "notInTheDocument", name)
				if _, partly := reflect.TypeOf(record).Elem().FieldByName("partial"); !partly { // those print all that the service sent
					value := reflect.ValueOf(record).Elem().Interface()
					for _, printed := range []string{fmt.Sprint(record), fmt.Sprintf("%+v", value)} {
						require.Equal(t, jsonOf(t, record), printed, "%s: String of %s has to be textOf(Object{}, v)", name, of)
					}
				}
			})
		})
	}
	for _, of := range []string{
		"Agent", "Approval", "CRMPushed", "Campaign", "Column", "ContactMatch", "Fact", "Folder", "List", "Object", "PresignedUpload", "Profile", "Row", "Send", "Step", "StepPreview", "User",
	} {
		require.Positive(t, kept[of], of)
	}
}

func jsonOf(t *testing.T, v any) string {
	t.Helper()
	text, err := json.Marshal(v)
	require.NoError(t, err)
	return string(text)
}

// A record that nobody sent has no text.
func TestRecords_OfNothing(t *testing.T) {
	for _, record := range []interface{ Raw() prospectkit.Object }{
		new(prospectkit.Agent), new(prospectkit.Approval), new(prospectkit.Campaign), new(prospectkit.ContactMatch), new(prospectkit.PresignedUpload),
		new(prospectkit.Send), new(prospectkit.Step), new(prospectkit.CheckedValue), new(prospectkit.Column), new(prospectkit.CRMPushed),
		new(prospectkit.Fact), new(prospectkit.Folder), new(prospectkit.List), new(prospectkit.Profile), new(prospectkit.StepPreview), new(prospectkit.User),
	} {
		require.True(t, record.Raw().IsZero(), "%T", record)
		require.NotContains(t, fmt.Sprint(record), "[]", "%T", record)
	}
}

// recordField is a field of a record, as its source has it.
type recordField struct{ name, comment string }

// recordFields are the fields of the records in the source of the root: of the structs that keep their text.
func recordFields(t *testing.T) map[string][]recordField {
	t.Helper()
	found := make(map[string][]recordField)
	_, files := ParseDir(t, "")
	for _, file := range files {
		ast.Inspect(file, func(n ast.Node) bool {
			spec, ok := n.(*ast.TypeSpec)
			if !ok {
				return true
			}
			if s, ok := spec.Type.(*ast.StructType); ok && spec.Name.IsExported() && keepsText(s) {
				found[spec.Name.Name] = documentedFields(s)
			}
			return false
		})
	}
	return found
}

func keepsText(s *ast.StructType) bool {
	return slices.ContainsFunc(s.Fields.List, func(f *ast.Field) bool {
		embedded, ok := f.Type.(*ast.Ident)
		return ok && len(f.Names) == 0 && (embedded.Name == "record" || embedded.Name == "partial")
	})
}

func documentedFields(s *ast.StructType) (fields []recordField) {
	for _, f := range s.Fields.List {
		if len(f.Names) == 0 || f.Tag == nil {
			continue
		}
		tag := reflect.StructTag(strings.Trim(f.Tag.Value, "`"))
		name, _, _ := strings.Cut(tag.Get("json"), ",")
		if name != "-" { // the client sets it
			fields = append(fields, recordField{name, f.Comment.Text()})
		}
	}
	return fields
}

// fieldProblems are the fields that are neither in a row of the conformance table nor marked as inferred or assumed.
func fieldProblems(conformance string, records map[string][]recordField) (problems []string) {
	for _, name := range slices.Sorted(maps.Keys(records)) {
		for _, f := range records[name] {
			full := name + "." + f.name
			inRow := regexp.MustCompile("(?m)^\\| C-\\d{4} \\|[^|]*`" + full + "`").MatchString(conformance)
			word := regexp.MustCompile(`\b(inferred|assumed)\b`).FindString(f.comment)
			switch {
			case word == "" && !inRow:
				problems = append(problems, full+" is in no row, and not marked")
			case word != "" && inRow:
				problems = append(problems, full+" is marked, and in a row")
			}
		}
	}
	return problems
}

// No field of a record is invented.
func TestRecords_EveryFieldIsDocumentedOrMarked(t *testing.T) {
	table, err := os.ReadFile(Path("testdata", "conformance.md"))
	require.NoError(t, err)
	records := recordFields(t)
	for _, name := range []string{"Agent", "Campaign", "ContactMatch", "List", "PresignedUpload", "Profile", "Send", "Step", "User"} {
		require.NotEmpty(t, records[name], name)
	}
	delete(records, "CheckedValue") // is made by the client
	require.Empty(t, fieldProblems(string(table), records))

	require.Equal(t, []string{
		"A.a is in no row, and not marked", "A.b is marked, and in a row",
	}, fieldProblems("| C-0001 | x (`A.b`, `A.d`) | – | – |", map[string][]recordField{"A": {
		{"a", "documented"}, {"b", "assumed"}, {"c", "assumed: c"}, {"d", "of something"}, {"e", "documented; that it is here is assumed"},
	}}))
}

// undocumentedResponses are the operations of which something of the request is documented, and nothing of the response.
var undocumentedResponses = []string{"lists.move"}

// A method whose response is documented, if only in part, returns a type for it.
func TestRecords_NoDocumentedResponseIsBare(t *testing.T) {
	bare := 0
	EachOperation(t, func(t *testing.T, row *op.Op, call AnyCall) {
		result, err := call(t.Context(), SandboxClient(t, EverySandbox(t, time.Now())))
		require.NoError(t, err)
		_, isObject := result.(*prospectkit.Object)
		if row.Shape == op.Raw || slices.Contains(undocumentedResponses, row.Name) {
			bare++
			require.True(t, isObject, "%T: the Shape of %s in internal/op/table.go says that nothing of its response is documented", result, row.Name)
			return
		}
		require.False(t, isObject, "%s: its response is documented (Shape in internal/op/table.go), so its method returns a type for it", row.Name)
	})
	require.Positive(t, bare)
	services := reflect.TypeFor[prospectkit.Client]()
	for f := range services.Fields() {
		if !f.IsExported() || f.Type.Kind() != reflect.Pointer {
			continue
		}
		for m := range f.Type.Methods() {
			for out := range m.Type.Outs() {
				require.NotContains(t, out.String(), "Seq2[*prospectkit.Object", "%s.%s", f.Name, m.Name)
			}
		}
	}
}

// Each record of a state of the sandbox reads into its type without a loss: each field of the type has the value of the text, each
// key of the text is a field or stays in Raw, and what the type writes reads the same again.
func TestRecords_OfTheSandboxLoseNoField(t *testing.T) {
	read := make(map[string]map[string]bool) // the fields that had a value
	for name, sb := range fixtures(t) {
		client := SandboxClient(t, sb, prospectkit.ReadOnly())
		for c, err := range client.Campaigns.All(t.Context()) {
			require.NoError(t, err, name)
			lossless(t, c, c.Raw(), read)
			for step, err := range client.Campaigns.Steps(t.Context(), c.ID) {
				require.NoError(t, err, name)
				lossless(t, step, step.Raw(), read)
			}
			for send, err := range client.Campaigns.Sends(t.Context(), c.ID) {
				require.NoError(t, err, name)
				lossless(t, send, send.Raw(), read)
			}
		}
		for a, err := range client.Agents.All(t.Context()) {
			require.NoError(t, err, name)
			lossless(t, a, a.Raw(), read)
		}
		for l, err := range client.Lists.All(t.Context(), prospectkit.ListsParams{}) {
			require.NoError(t, err, name)
			lossless(t, l, l.Raw(), read)
			alone, err := client.Lists.GetWithColumns(t.Context(), l.ID) // has more fields
			require.NoError(t, err, name)
			lossless(t, alone, alone.Raw(), read)
		}
	}
	for name, fields := range recordFields(t) {
		for _, f := range fields {
			if had, ok := read[name]; ok {
				require.True(t, had[f.name], "no state has %s.%s: give it to one of fixtures", name, f.name)
			}
		}
	}
	require.Len(t, read, 5)
}

// fixtures are sandboxes with every state that the project has, and one after each write.
func fixtures(t *testing.T) map[string]*sandbox.Sandbox {
	t.Helper()
	text, err := os.ReadFile(Path("sandbox", "testdata", "seed.json"))
	require.NoError(t, err)
	var seed sandbox.State
	require.NoError(t, json.Unmarshal(text, &seed))
	begin := time.Date(2026, time.March, 1, 9, 0, 0, 0, time.UTC)
	clock := sandbox.WithClock(sandbox.NewManualClock(begin))
	full := EverySandbox(t, begin, clock)
	list := full.Lists()[0].ID
	full.Do(func(tx *sandbox.Tx) {
		ready := sandbox.ReadyCampaign("Social", list)
		ready.Channels, ready.Status, ready.Steps = []string{"email", "social"}, "stopped", []sandbox.Step{
			{Type: "social_connection", SequenceNumber: 1, Body: "Hello"},
			{Type: "social_message", SequenceNumber: 2, Topic: "engines"},
			{Type: "email", SequenceNumber: 3, Subject: "Hi", Body: "Hello"},
		}
		tx.CreateCampaign(ready)
	})
	all := map[string]*sandbox.Sandbox{"every": full, "seed": sandbox.New(t, sandbox.Seed(seed), clock)}
	for name, call := range EveryCall {
		if row, _ := op.ByName(name); row.Write() {
			all[name] = EverySandbox(t, begin, clock)
			_, err := call(t.Context(), SandboxClient(t, all[name]))
			require.NoError(t, err, name)
		}
	}
	return all
}

// instant is a time in one form, and everything else as it is.
func instant(v any) any {
	text, _ := v.(string)
	if at, err := time.Parse(time.RFC3339Nano, text); err == nil {
		return at.UnixNano()
	}
	return v
}

// lossless compares a record with its text, in both directions.
func lossless[T any](t *testing.T, record *T, raw prospectkit.Object, read map[string]map[string]bool) {
	t.Helper()
	of := reflect.TypeFor[T]()
	var sent, kept map[string]any
	require.NoError(t, raw.Decode(&sent))
	text, err := json.Marshal(record)
	require.NoError(t, err)
	require.NoError(t, json.Unmarshal(text, &kept))
	for key, value := range kept {
		require.Contains(t, sent, key, of)
		if sent[key] != nil {
			require.Equal(t, instant(sent[key]), instant(value), "%s.%s", of, key)
		}
	}
	fields := make(map[string]bool)
	for f := range of.Fields() {
		name, _, _ := strings.Cut(f.Tag.Get("json"), ",")
		value, there := sent[name]
		fields[name] = there && value != nil && value != "" && value != false
		if _, ok := kept[name]; name != "" && !ok {
			require.Empty(t, value, "%s.%s is in the text alone", of, name)
		}
	}
	var again T
	require.NoError(t, json.Unmarshal(text, &again))
	twice, err := json.Marshal(again)
	require.NoError(t, err)
	require.JSONEq(t, string(text), string(twice))
	if read[of.Name()] == nil {
		read[of.Name()] = make(map[string]bool)
	}
	for name, had := range fields {
		read[of.Name()][name] = read[of.Name()][name] || had
	}
}
