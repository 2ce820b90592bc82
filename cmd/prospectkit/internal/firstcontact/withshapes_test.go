package firstcontact_test

import (
	"bytes"
	"io"
	"net/http"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"example.com/prospectkit"
	"example.com/prospectkit/cmd/prospectkit/internal/firstcontact"
	"example.com/prospectkit/internal/tests"
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

// learned is the file of a check.
func learned(t *testing.T, sb *sandbox.Sandbox, transport http.RoundTripper) []byte {
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
		sb := tests.EverySandbox(t, time.Now())
		sb.Do(func(tx *sandbox.Tx) { tx.CreateList(sandbox.List{Name: "firms", EntityType: sandbox.CompanyList}) })
		data := learned(t, sb, odd{sb.Transport()})
		for _, known := range []bool{false, true} {
			var seen []string
			opts := []prospectkit.ClientOption{prospectkit.WithTransport(odd{sb.Transport()}), tests.Undocumented(&seen)}
			if known {
				opts = append(opts, prospectkit.WithShapes(data))
			}
			client, err := prospectkit.New(sb.BaseURL(), sb.Token(), opts...)
			require.NoError(t, err)
			client, err = client.With(prospectkit.WithMaxWait(0))
			require.NoError(t, err)
			_, err = client.Lists.Page(t.Context(), prospectkit.ListsParams{})
			require.NoError(t, err)
			_, err = client.Lists.Create(t.Context(), prospectkit.NewList{Name: "Q" + time.Now().String()})
			require.NoError(t, err)
			if known {
				require.Empty(t, seen)
			} else {
				require.Subset(t, seen, []string{"header Ratelimit-Policy", "field data.ownerName", "value data.entityType mixedList"})
			}
			time.Sleep(time.Minute)
		}
		var seen []string // the header was seen, the field of this other service was not
		client, err := prospectkit.New(sb.BaseURL(), sb.Token(), prospectkit.WithTransport(odd{sb.Transport()}), tests.Undocumented(&seen),
			prospectkit.WithShapes(learned(t, sb, sb.Transport())))
		require.NoError(t, err)
		_, err = client.Lists.Page(t.Context(), prospectkit.ListsParams{})
		require.NoError(t, err)
		require.Contains(t, seen, "field data.ownerName")
	})
}

// A renamed field was seen, too, also where the object around it is renamed.
func TestShapes_RenamedIsKnown(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		sb := tests.EverySandbox(t, time.Now())
		other := changed{sb.Transport(), []plant{
			{body: on("/business/lists", every("data", rename("contactsCount", "contactCount")))},
			{body: on("/business/lists", every("pagination", rename("totalPages", "pageCount")))},
			{body: on("/business/lists", top(rename("pagination", "meta")))},
		}}
		data := learned(t, sb, other)
		for _, known := range []bool{false, true} {
			var seen []string
			opts := []prospectkit.ClientOption{prospectkit.WithTransport(other), tests.Undocumented(&seen)}
			if known {
				opts = append(opts, prospectkit.WithShapes(data))
			}
			client, err := prospectkit.New(sb.BaseURL(), sb.Token(), opts...)
			require.NoError(t, err)
			_, err = client.Lists.Page(t.Context(), prospectkit.ListsParams{})
			require.NoError(t, err)
			if known {
				require.Empty(t, seen)
			} else {
				require.Contains(t, seen, "field data.contactCount")
				require.Contains(t, seen, "field meta")
			}
			time.Sleep(time.Minute)
		}
	})
}

// Reads go where the check has found them.
func TestShapes_Routes(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		sb := tests.EverySandbox(t, time.Now(), sandbox.WithRoute("contacts.timeline", "GET /business/contacts/{contactId}/activity"))
		data := learned(t, sb, sb.Transport())
		client, err := prospectkit.New(sb.BaseURL(), sb.Token(), prospectkit.WithTransport(sb.Transport()), prospectkit.WithShapes(data))
		require.NoError(t, err)
		_, err = client.Contacts.ActivitiesPage(t.Context(), tests.ContactID, prospectkit.ActivityParams{})
		require.NoError(t, err)
	})
}
