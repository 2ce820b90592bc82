package prospectkit_test

import (
	"bytes"
	"fmt"
	"io"
	"net/http"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"example.com/prospectkit"
	"example.com/prospectkit/internal/firstcontact"
	"example.com/prospectkit/sandbox"
)

// odd is a service with a field, a kind of list and a header that are undocumented.
type odd struct{ next http.RoundTripper }

func (o odd) RoundTrip(req *http.Request) (*http.Response, error) {
	resp, err := o.next.RoundTrip(req)
	if err != nil {
		return nil, err
	}
	text, err := io.ReadAll(resp.Body)
	text = bytes.ReplaceAll(text, []byte(`"contactsCount"`), []byte(`"ownerName":"x","contactsCount"`))
	text = bytes.ReplaceAll(text, []byte(`"companyList"`), []byte(`"mixedList"`))
	resp.Body, resp.ContentLength = io.NopCloser(bytes.NewReader(text)), int64(len(text))
	resp.Header.Set("RateLimit-Policy", "x")
	return resp, err
}

// learnt is the file of a check.
func learnt(t *testing.T, sb *sandbox.Sandbox, transport http.RoundTripper) []byte {
	t.Helper()
	run, err := firstcontact.Start(firstcontact.Config{BaseURL: sb.BaseURL(), Token: sb.Token(), Transport: transport})
	require.NoError(t, err)
	require.NoError(t, run.Ask(t.Context()))
	_, file := run.Report(nil)
	return file.Encode()
}

// What a check has seen is not reported again; what is new since then is.
func TestShapes_KnownToCanaries(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		sb := everySandbox(t, time.Now())
		sb.Do(func(tx *sandbox.Tx) { tx.CreateList(sandbox.List{Name: "firms", EntityType: sandbox.CompanyList}) })
		data := learnt(t, sb, odd{sb.Transport()})
		for _, known := range []bool{false, true} {
			var c canary
			opts := []prospectkit.ClientOption{prospectkit.WithTransport(odd{sb.Transport()}), c.option()}
			if known {
				opts = append(opts, prospectkit.WithShapes(data))
			}
			client, err := prospectkit.New(sb.BaseURL(), sb.Token(), opts...)
			require.NoError(t, err)
			client, err = client.With(prospectkit.NoWait())
			require.NoError(t, err)
			_, err = client.Lists.Page(t.Context(), prospectkit.ListsParams{})
			require.NoError(t, err)
			_, err = client.Lists.Create(t.Context(), prospectkit.NewList{Name: "Q" + time.Now().String()})
			require.NoError(t, err)
			if known {
				require.Empty(t, c.seen)
			} else {
				require.Subset(t, c.seen, []string{"header Ratelimit-Policy", "field data.ownerName", "value data.entityType mixedList"})
			}
			time.Sleep(time.Minute)
		}
		var c canary // the header was seen, the field of this other service was not
		client, err := prospectkit.New(sb.BaseURL(), sb.Token(), prospectkit.WithTransport(odd{sb.Transport()}), c.option(),
			prospectkit.WithShapes(learnt(t, sb, sb.Transport())))
		require.NoError(t, err)
		_, err = client.Lists.Page(t.Context(), prospectkit.ListsParams{})
		require.NoError(t, err)
		require.Contains(t, c.seen, "field data.ownerName")
	})
}

// Reads go where the check has found them.
func TestShapes_Routes(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		sb := everySandbox(t, time.Now(), sandbox.WithRoute("contacts.timeline", "GET /business/contacts/{contactId}/activity"))
		data := learnt(t, sb, sb.Transport())
		client, err := prospectkit.New(sb.BaseURL(), sb.Token(), prospectkit.WithTransport(sb.Transport()), prospectkit.WithShapes(data))
		require.NoError(t, err)
		_, err = client.Contacts.ActivitiesPage(t.Context(), contactID, prospectkit.ActivityParams{})
		require.NoError(t, err)
	})
}

func TestShapes_Refusals(t *testing.T) {
	for _, data := range []string{
		``, `null`, `{}`, `{"format":"prospectkit-shapes/2"}`, `{"format":"prospectkit-shapes/1"} {}`,
		`{"format":"prospectkit-shapes/1","operations":{"lists.list":null}}`,
		`{"format":"prospectkit-shapes/1","unknown":1}`,
		`{"format":"prospectkit-shapes/1","operations":{"agents.pause":{"route":"POST /business/x/{agentId}"}}}`,
		`{"format":"prospectkit-shapes/1","operations":{"lists.create":{"route":"GET /business/x"}}}`,
		`{"format":"prospectkit-shapes/1","operations":{"lists.get":{"route":"GET /business/x"}}}`,
		`{"format":"prospectkit-shapes/1","operations":{"lists.get":{"route":"GET /business/{listId}/../x"}}}`,
		`{"format":"prospectkit-shapes/1","operations":{"lists.list":{"route":"DELETE /business/lists"}}}`,
		`{"format":"prospectkit-shapes/1","operations":{"lists.list":{"route":"GET https://elsewhere.example/"}}}`,
		`{"format":"prospectkit-shapes/1","operations":{"nobody":{"route":"GET /x"}}}`,
	} {
		_, err := prospectkit.New(baseURL, token, prospectkit.WithShapes([]byte(data)))
		require.ErrorIs(t, err, prospectkit.ErrRefusedLocally, data)
		require.ErrorContains(t, err, "WithShapes", data)
		sb := recordedMisuse{TB: t}
		sandbox.New(&sb, sandbox.WithShapes([]byte(data)))
		require.Contains(t, sb.text, "WithShapes", data)
	}
}

// recordedMisuse is a test that keeps what a sandbox reports.
type recordedMisuse struct {
	testing.TB
	text string
}

func (r *recordedMisuse) Errorf(format string, args ...any) {
	r.text = format + " " + fmt.Sprint(args...)
}
