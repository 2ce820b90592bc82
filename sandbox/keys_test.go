package sandbox_test

import (
	"encoding/base64"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"example.com/prospectkit/internal/op"
	"example.com/prospectkit/sandbox"
)

func TestCredentials(t *testing.T) {
	onEachRoad(t, nil, func(t *testing.T, _ *sandbox.Sandbox, c caller) {
		t.Helper()
		basic := func(s string) string { return "Basic " + base64.StdEncoding.EncodeToString([]byte(s)) }
		for name, tc := range map[string]struct {
			header string
			valid  bool
		}{
			"right":       {basic(c.token + ":"), true},
			"missing":     {"", false},
			"no colon":    {basic(c.token), false},
			"password":    {basic(c.token + ":x"), false},
			"other token": {basic("nobody:"), false},
			"empty token": {basic(":"), false},
			"bearer":      {"Bearer " + c.token, false},
			"not base64":  {"Basic %%%", false},
		} {
			t.Run(name, func(t *testing.T) {
				req := c.request("GET", "/business/me", nil)
				req.Header.Del("Authorization")
				if tc.header != "" {
					req.Header.Set("Authorization", tc.header)
				}
				r, err := c.send(req)
				require.NoError(t, err)
				if tc.valid {
					r.ok(200)
					return
				}
				r.fails(401, "UNAUTHORIZED")
			})
		}
	})
}

func TestRevokedAndExpiredKeys(t *testing.T) {
	keys := []sandbox.Key{{Token: "owner"}, {Token: "expiring", ExpiresAt: start.Add(time.Hour)}}
	sb := sandbox.New(t, sandbox.WithClock(sandbox.NewManualClock(start)), sandbox.Seed(sandbox.State{Workspaces: []sandbox.Workspace{{Keys: keys}}}))
	c := inPlace(t, sb)
	revoked := sb.Key()
	c.as(revoked).get("/business/me").ok(200)
	sb.Revoke(revoked)
	c.as(revoked).get("/business/me").fails(401, "UNAUTHORIZED")

	sb.Advance(time.Hour - 1)
	c.as("expiring").get("/business/me").ok(200)
	sb.Advance(1)
	c.as("expiring").get("/business/me").fails(401, "UNAUTHORIZED")
	c.get("/business/me").ok(200)
}

func TestTheTokenOfAWorkspaceIsOneThatLasts(t *testing.T) {
	keys := []sandbox.Key{{Token: "expired", ExpiresAt: start.Add(-time.Hour)}}
	sb := sandbox.New(t, sandbox.WithClock(sandbox.NewManualClock(start)), sandbox.Seed(sandbox.State{Workspaces: []sandbox.Workspace{{Keys: keys}}}))
	inPlace(t, sb).get("/business/me").ok(200)
}

func TestScopes(t *testing.T) {
	scopes := []string{"lists", "campaigns", "search", "contacts", "agents", "companies"}
	onEachRoad(t, []sandbox.Option{sandbox.NoLimits()}, func(t *testing.T, sb *sandbox.Sandbox, c caller) {
		t.Helper()
		for _, o := range op.All() {
			if o.Path == "" {
				continue
			}
			path := strings.NewReplacer("{", "", "}", "").Replace(o.Path)
			for _, scope := range scopes {
				r := c.as(sb.Key(scope)).do(o.Method, path, nil)
				if o.Scope != op.ScopeAny && string(o.Scope) != scope {
					r.fails(403, "INSUFFICIENT_SCOPE")
					continue
				}
				require.NotEqual(t, 403, r.status, "%s with %s", o.Name, scope)
			}
			require.NotContains(t, []int{401, 403}, c.as(sb.Key(scopes...)).do(o.Method, path, nil).status)
			require.NotContains(t, []int{401, 403}, c.as(sb.Key()).do(o.Method, path, nil).status)
		}
	})
}

func TestKeysAreWidened(t *testing.T) {
	sb := sandbox.New(t)
	c := inPlace(t, sb).as(sb.Key("search"))
	c.get(lists).fails(403, "INSUFFICIENT_SCOPE")
	sb.Widen(c.token, "lists")
	c.get(lists).ok(200)
	sb.Widen(sb.Token(), "companies")
	c.as(sb.Token()).get(lists).ok(200) // it has every scope
}

func TestUnknownPathsAndMethods(t *testing.T) {
	onEachRoad(t, nil, func(t *testing.T, sb *sandbox.Sandbox, c caller) {
		t.Helper()
		scoped := c.as(sb.Key("search"))
		for _, tc := range []struct{ method, path string }{
			{"DELETE", lists},
			{"PUT", lists + "/" + id(1)},
			{"OPTIONS", lists},
			{"POST", "/business/me"},
			{"GET", lists + "/"},
			{"GET", "/business//lists"},
			{"GET", "/business/./lists"},
			{"GET", "/business/x/../lists"},
			{"GET", "/business/%2E%2E/business/lists"},
			{"GET", "/business/lists/."},
			{"GET", "/business/lists/" + id(1) + "/rows/1"},
			{"GET", "/business/lists%2F"},
			{"GET", "/business/Lists"},
			{"GET", "/business"},
			{"GET", ""},
			{"GET", "/lists?limit=0"},
			{"GET", "/business/agents/x/activate"},
		} {
			for _, who := range []caller{c, scoped, c.as("")} {
				r := who.do(tc.method, tc.path, nil)
				r.fails(404, "ENDPOINT_NOT_FOUND")
				require.Empty(t, r.header.Get("Location"))
			}
		}
		r := c.do("HEAD", lists, nil)
		require.Equal(t, 404, r.status)
		require.Empty(t, r.raw)
		require.Zero(t, sb.Calls("lists.list"))
		require.Equal(t, "/api/v1"+lists, sb.Journal()[0].Path)
	})
}

func TestOutsideTheBasePath(t *testing.T) {
	sb := sandbox.New(t)
	c := inPlace(t, sb)
	c.base = "https://sandbox.invalid"
	c.get("/business/me").fails(404, "ENDPOINT_NOT_FOUND")
	c.get("/").fails(404, "ENDPOINT_NOT_FOUND")
	c.get("").fails(404, "ENDPOINT_NOT_FOUND")
}

// Every operation with a documented path has its rule: a request for it is in the journal under its name and handled by
// it, not by the router.
func TestEveryOperationHasARule(t *testing.T) {
	sb := sandbox.New(t)
	c := inPlace(t, sb)
	for _, o := range op.All() {
		if o.Path == "" {
			continue
		}
		r := c.do(o.Method, strings.NewReplacer("{", "", "}", "").Replace(o.Path), nil)
		require.NotContains(t, string(r.raw), "ENDPOINT_NOT_FOUND", o.Name)
		require.Less(t, r.status, 500, o.Name)
		require.Equal(t, 1, sb.Calls(o.Name), o.Name)
	}
}

func TestWorkspacesDoNotSeeEachOther(t *testing.T) {
	onEachRoad(t, []sandbox.Option{someLists()}, func(t *testing.T, sb *sandbox.Sandbox, c caller) {
		t.Helper()
		b := sb.Workspace("b")
		require.Equal(t, b.Token(), sb.Workspace("b").Token(), "found again")
		foreign := c.as(b.Token())
		require.Empty(t, foreign.get(lists).ok(200)["data"])
		foreign.get(lists+"/"+id(11)).fails(404, "LIST_NOT_FOUND")
		foreign.get(rowsOf(id(11))).fails(404, "LIST_NOT_FOUND")
		foreign.do("PATCH", lists+"/"+id(11), object{"folderId": nil}).fails(404, "LIST_NOT_FOUND")
		foreign.do("POST", lists, object{"name": "Paris"}).ok(201)

		sb.Consume("lists", 1_000)
		c.get(lists).fails(429, "RATE_LIMITED")
		foreign.get(lists).ok(200)
		b.Consume("account", 1_000)
		foreign.get("/business/me").fails(429, "RATE_LIMITED")
		c.get("/business/me").ok(200)
		require.Len(t, b.Lists(), 1)
		require.Len(t, sb.Lists(), 4)
		require.Equal(t, "b", sb.Journal()[0].Workspace)
	})
}

func TestTheJournalNeverHoldsATokenOrABody(t *testing.T) {
	sb := sandbox.New(t)
	c := inPlace(t, sb).as(sb.Key("lists"))
	c.do("POST", lists+"?secret=1", object{"name": "x"}).ok(201)
	entry := sb.Journal()[0]
	require.Equal(t, "key-2", entry.KeyName)
	require.NotContains(t, entry.String(), c.token)
	require.NotContains(t, entry.Path, "secret")
	require.Equal(t, `req_000001 POST /api/v1/business/lists 201: list created: "x"`, entry.String())
}
