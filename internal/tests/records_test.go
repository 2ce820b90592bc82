package tests_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"reflect"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"example.com/prospectkit"
	"example.com/prospectkit/internal/tests"
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
	for name, anyCall := range tests.EveryCall {
		synctest.Test(t, func(t *testing.T) {
			sb := tests.EverySandbox(t, time.Now())
			transport := &embellished{base: sb.Transport()}
			result, err := anyCall(t.Context(), tests.SandboxClient(t, sb, prospectkit.WithTransport(transport)))
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
