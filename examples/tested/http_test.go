package tested_test

import (
	"errors"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"regexp"
	"testing"

	"github.com/jarcoal/httpmock"
	"github.com/stretchr/testify/require"

	"example.com/prospectkit"
	"example.com/prospectkit/examples/tested"
)

func TestExportOverHTTP(t *testing.T) {
	sb, _ := start(t)
	server := httptest.NewServer(sb.Handler())
	defer server.Close()
	t.Setenv("PROSPECTKIT_BASE_URL", server.URL+"/api/v1")
	t.Setenv("PROSPECTKIT_TOKEN", sb.Token())

	client, err := prospectkit.FromEnv() // as the program itself does
	require.NoError(t, err)
	defer client.Close()
	n, err := tested.Export(t.Context(), client, "Berlin", io.Discard)
	require.NoError(t, err)
	require.Equal(t, 2, n)
}

func TestExportWithCannedAnswers(t *testing.T) {
	mock := httpmock.NewMockTransport()
	mock.RegisterResponder("GET", "=~/business/lists", httpmock.NewStringResponder(401,
		`{"error":{"code":"UNAUTHORIZED","message":"expired","param":null,"doc_url":null,"request_id":"req-1"}}`))
	client, err := prospectkit.New("https://service.example/api/v1", "token", prospectkit.WithTransport(mock))
	require.NoError(t, err)
	_, err = tested.Export(t.Context(), client, "Berlin", io.Discard)
	require.ErrorIs(t, err, prospectkit.CodeUnauthorized)

	mock.RegisterResponder("GET", "=~/business/lists", httpmock.NewStringResponder(200,
		`{"data":[{"id":"a00000000000000000000001","name":"Berlin","entityType":"contactList","contactsCount":2,"companiesCount":0,
			"createdAt":"2026-01-31T09:30:00.000Z","folderId":null}],
		  "pagination":{"pageNum":1,"totalPages":1,"totalRecords":1}}`))
	list, err := tested.Find(t.Context(), client.Lists, "Berlin")
	require.NoError(t, err)
	require.Equal(t, 2, list.ContactsCount)
}

func TestACannedSuccessHasTheRateHeaders(t *testing.T) {
	mock := httpmock.NewMockTransport()
	mock.RegisterResponder("POST", "=~/contacts$", httpmock.NewStringResponder(200, `{"added":1}`).HeaderSet(http.Header{
		"Content-Type":    {"application/json"},
		"RateLimit-Limit": {"120"}, "RateLimit-Remaining": {"119"}, "RateLimit-Reset": {"60"},
	}))
	client, err := prospectkit.New("https://service.example/api/v1", "token", prospectkit.WithTransport(mock))
	require.NoError(t, err)
	added, err := client.Lists.AddContacts(t.Context(), "65f0c0ffee65f0c0ffee65f0", prospectkit.Fields{"contacts": []any{}})
	require.NoError(t, err)
	require.Equal(t, 1, added.Int("added"))
}

// The body that the guide shows is enough without the headers.
func TestACannedSuccessHasItsWholeShape(t *testing.T) {
	guide, err := os.ReadFile("../../docs/testing.md")
	require.NoError(t, err)
	bodies := regexp.MustCompile("(?s)```json\n(.*?)```").FindAllStringSubmatch(string(guide), -1)
	require.Len(t, bodies, 1)
	mock := httpmock.NewMockTransport()
	mock.RegisterResponder("POST", "=~/business/lists$", httpmock.NewStringResponder(201, bodies[0][1]))
	client, err := prospectkit.New("https://service.example/api/v1", "token", prospectkit.WithTransport(mock))
	require.NoError(t, err)
	list, err := client.Lists.Create(t.Context(), prospectkit.NewList{Name: "Q1"})
	require.NoError(t, err)
	require.Equal(t, "Q1", list.Name)
}

func TestAMockProvesNothing(t *testing.T) {
	mock := httpmock.NewMockTransport()
	mock.RegisterNoResponder(httpmock.NewErrorResponder(errors.New("connection refused")))
	client, err := prospectkit.New("https://service.example/api/v1", "token", prospectkit.WithTransport(mock))
	require.NoError(t, err)
	_, err = client.Lists.Create(t.Context(), prospectkit.NewList{Name: "Q1"})
	require.ErrorIs(t, err, prospectkit.ErrOutcomeUnknown) // a mock shows no connection, so nothing proves that it was not sent
}
