package tests

import (
	"context"
	"net"
	"net/http"
	"testing"

	"example.com/prospectkit"
)

// Family makes one error of each kind the way a user gets it.
func Family(t *testing.T) map[string]error {
	t.Helper()
	create := func(rt http.RoundTripper) error {
		_, err := NewClient(t, rt).Lists.Create(t.Context(), prospectkit.NewList{Name: "x"})
		return err
	}
	limited := NewClient(t, Always(429, Envelope("RATE_LIMITED"), "Retry-After", "3600"))
	_, answered := limited.Account.Me(t.Context())
	_, held := limited.Account.Me(t.Context())
	_, refused := limited.Lists.Create(t.Context(), prospectkit.NewList{})
	deadDialer := &http.Transport{DialContext: func(context.Context, string, string) (net.Conn, error) {
		return nil, &net.DNSError{Err: "no such host", Name: "api.example.com", IsNotFound: true}
	}}
	return map[string]error{
		"refused locally":         refused,
		"refused by the limit":    held,
		"429":                     answered,
		"409":                     create(Always(409, Envelope("LIST_NAME_TAKEN"))),
		"never sent":              create(deadDialer),
		"500 to a write":          create(Always(500, Envelope("UNEXPECTED_ERROR"))),
		"cut":                     create(RoundTrip(CutOff)),
		"response cannot be read": create(Always(201, "{")),
	}
}
