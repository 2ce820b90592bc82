package tests

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"go/ast"
	"go/parser"
	gotoken "go/token"
	"io"
	"log/slog"
	"maps"
	"net"
	"net/http"
	"net/url"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"example.com/prospectkit"
	"example.com/prospectkit/filter"
	"example.com/prospectkit/internal/op"
)

// What the calls of these tests send, and no text about them may show.
const (
	zebra   = "Zebra Q4 größe" // searches, filters and queries
	someone = "Ada Lovelace"   // names in bodies
)

// endings are calls of every class, with ids, queries and names that are easy to recognise.
var endings = map[string]AnyCall{
	"read with a query": func(ctx ctxt, c *client, opts ...option) (any, error) {
		return c.Lists.Page(ctx, prospectkit.ListsParams{Search: zebra}, append(opts, prospectkit.WithQuery("also", zebra))...)
	},
	"read with an id": WithTwo((*lists).RowsPage, ListID, prospectkit.RowsParams{Filter: filter.Contact{CompanyName: filter.AnyOf(zebra)}}),
	"rows of a struct": func(ctx ctxt, c *client, opts ...option) (any, error) {
		return nil, Exhaust(prospectkit.RowsOf[struct{ Age int }](ctx, c.Lists, ListID, prospectkit.RowsParams{}, pageOptions(opts)...))
	},
	"a wait": With((*agents).WaitSettled, RunsID),
	"a search": func(ctx ctxt, c *client, opts ...option) (any, error) {
		filters := filter.Search{"company": filter.Including(zebra)}
		return nil, Exhaust(c.Search.Prospects(ctx, prospectkit.SearchParams{Filters: filters}, append(pageOptions(opts), prospectkit.MaxPaidPages(1))...))
	},
	"a write by name":    With((*lists).Create, prospectkit.NewList{Name: someone}),
	"ensure":             With((*lists).Ensure, prospectkit.NewList{Name: someone}),
	"a write with ids":   WithTwo((*lists).Move, ListID, FolderID),
	"a write that sends": With((*campaigns).ApproveUnreviewed, CampaignID),
	"an agent": With((*agents).CreateAndStart, prospectkit.AgentSpec(Altered(Discovery(), func(d *DiscoveryOf) {
		d.ListName, d.MaxCreditSpend = someone, 1000
	}))),
	"an upload": func(ctx ctxt, c *client, opts ...option) (any, error) {
		text := "email\nada@engines.example\n"
		return c.Imports.Upload(ctx, prospectkit.UploadFrom(someone+".csv", int64(len(text)), strings.NewReader(text)), opts...)
	},
	"an upload that cannot be read": With((*imports).Upload, prospectkit.Upload{Name: "x.csv", Size: 9, Open: func() (io.ReadCloser, error) {
		return nil, &url.Error{Op: "Get", URL: "https://bucket.example/" + ListID + "?signature=" + zebra, Err: io.ErrUnexpectedEOF}
	}}),
	"a call of one's own": func(ctx ctxt, c *client, opts ...option) (any, error) {
		var out struct{ Age int }
		return nil, c.Call(ctx, UnnamedOperation(op.Unsafe), fields{"name": someone}, &out, append(opts, prospectkit.WithQuery("q", zebra))...)
	},
}

func pageOptions(opts []prospectkit.CallOption) (all []prospectkit.PageOption) {
	for _, o := range opts {
		all = append(all, o)
	}
	return all
}

// ends are the ways in which an attempt fails: with every row of the decision table, and with
// everything that repeats the request.
var ends = map[string]ending{
	"no connection": func(*http.Request, *MemoryServer) (*http.Response, error) {
		return nil, &net.OpError{Op: "dial", Net: "tcp", Err: errors.New("connection refused")}
	},
	"not sent": func(r *http.Request, _ *MemoryServer) (*http.Response, error) {
		return (&http.Transport{DialContext: func(context.Context, string, string) (net.Conn, error) { return nil, errors.New("no route") }}).RoundTrip(r)
	},
	"no such host": func(r *http.Request, _ *MemoryServer) (*http.Response, error) {
		return (&http.Transport{DialContext: func(context.Context, string, string) (net.Conn, error) {
			return nil, &net.DNSError{Err: "no such host", Name: "api.example.com", IsNotFound: true}
		}}).RoundTrip(r)
	},
	"a proxy that refuses": func(r *http.Request, _ *MemoryServer) (*http.Response, error) {
		proxy := func(r *http.Request) (*url.URL, error) { return nil, fmt.Errorf("no proxy for %s", r.URL) }
		return (&http.Transport{Proxy: proxy}).RoundTrip(r)
	},
	"quotes in a network error": func(r *http.Request, _ *MemoryServer) (*http.Response, error) {
		inner := fmt.Errorf("no route for %s with %s", r.URL, r.Header.Get("Authorization"))
		return nil, &net.OpError{Op: "dial", Net: "tcp", Err: errors.Join(inner, &net.DNSError{Err: r.URL.RequestURI(), Name: "api.example.com"})}
	},
	"URL error": func(r *http.Request, _ *MemoryServer) (*http.Response, error) { return nil, urlError(r) },
	"wrapped": func(r *http.Request, _ *MemoryServer) (*http.Response, error) {
		return nil, fmt.Errorf("middleware: %w", urlError(r))
	},
	"joined": func(r *http.Request, _ *MemoryServer) (*http.Response, error) {
		return nil, errors.Join(io.EOF, urlError(r), urlError(r))
	},
	"own words": func(r *http.Request, _ *MemoryServer) (*http.Response, error) {
		return nil, fmt.Errorf("%s %s %v %s", r.Method, r.URL, r.URL.Query(), r.URL.RequestURI())
	},
	"cut":          as(CutOff),
	"nothing":      func(*http.Request, *MemoryServer) (*http.Response, error) { return nil, nil },
	"request line": rawEnd(func(r *http.Request) string { return "HTTP/1.1 " + r.URL.RequestURI() + "\r\n\r\n" }),
	"header line":  rawEnd(func(r *http.Request) string { return "HTTP/1.1 200 OK\r\nGET " + r.URL.RequestURI() + "\r\n\r\n" }),
	"no protocol":  rawEnd(func(r *http.Request) string { return r.Method + " " + r.URL.RequestURI() + " HTTP/1.1\r\n\r\n" }),
	"cut body": rawEnd(func(*http.Request) string {
		return "HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nContent-Length: 99\r\n\r\n{"
	}),
	"refused":      echoEnd(404, "LIST_NOT_FOUND"),
	"taken":        echoEnd(409, "LIST_NAME_TAKEN"),
	"failed":       echoEnd(500, "UNEXPECTED_ERROR"),
	"limited":      echoEnd(429, "RATE_LIMITED", "Retry-After", "3600"),
	"gateway":      htmlEnd(502),
	"unavailable":  htmlEnd(503),
	"odd":          htmlEnd(520),
	"not found":    htmlEnd(404),
	"welcome page": htmlEnd(200),
	"redirect": func(r *http.Request, _ *MemoryServer) (*http.Response, error) {
		return Respond(302, "", "Location", r.URL.String()), nil
	},
	"content type":  as(Always(404, "", "Content-Type", "text/html; of="+ListID)),
	"redirected":    as(Always(302, "", "Location", "http://"+FolderID+".example/"+ListID)),
	"empty":         as(Always(200, "")),
	"too long":      as(Always(200, `"`+strings.Repeat(ListID, 200)+`"`)),
	"no page":       as(Always(200, `{"`+ListID+`": "`+zebra+`"}`)),
	"mismatch":      as(Always(200, `{"age": "`+zebra+`", "data": [{"id": "`+ListID+`", "age": "`+zebra+`"}], "pagination": {"totalPages": 1}}`)),
	"unknown state": as(Always(200, `{"agent": {"id": "`+RunsID+`", "status": "PROCESSING", "name": "`+someone+`"}}`)),
	"stalled": func(r *http.Request, _ *MemoryServer) (*http.Response, error) {
		<-r.Context().Done()
		return nil, context.Cause(r.Context())
	},
}

// ending is how an attempt fails, beside a server whose raw response it may choose.
type ending = func(r *http.Request, m *MemoryServer) (*http.Response, error)

func as(rt RoundTrip) ending {
	return func(r *http.Request, _ *MemoryServer) (*http.Response, error) { return rt(r) }
}

func urlError(r *http.Request) error {
	return &url.Error{Op: "Get", URL: r.URL.String(), Err: io.ErrUnexpectedEOF}
}

func rawEnd(text func(*http.Request) string) ending {
	return func(r *http.Request, m *MemoryServer) (*http.Response, error) {
		m.Raw = text(r)
		return oneTime(m).RoundTrip(r)
	}
}

func echoEnd(status int, code string, header ...string) ending {
	return func(r *http.Request, _ *MemoryServer) (*http.Response, error) {
		said := JSONText("nothing at " + r.URL.String() + ", " + r.URL.RequestURI() + " with " + ListID + " or '" + strings.ToUpper(FolderID) + "'.")
		return Respond(status, strings.Replace(Envelope(code), `"prose"`, said, 1), header...), nil
	}
}

func htmlEnd(status int) ending {
	return func(r *http.Request, _ *MemoryServer) (*http.Response, error) {
		return Respond(status, "<p>"+r.URL.String(), "Content-Type", "text/html"), nil
	}
}

// limits are the ways in which a call is bounded, or ended from outside.
var limits = map[string]struct {
	opts  []prospectkit.CallOption
	bound func(context.Context) (context.Context, context.CancelFunc)
}{
	"as it is":    {nil, within(time.Hour)},
	"no retry":    {[]prospectkit.CallOption{prospectkit.WithRetry(prospectkit.RetryPolicy{MaxAttempts: 1})}, within(time.Hour)},
	"no wait":     {[]prospectkit.CallOption{prospectkit.WithMaxWait(0)}, within(time.Hour)},
	"soon":        {nil, within(300 * time.Millisecond)},
	"later":       {nil, within(700 * time.Millisecond)},
	"given up":    {nil, canceled(0)},
	"interrupted": {nil, canceled(100 * time.Millisecond)},
	"read only":   {[]prospectkit.CallOption{prospectkit.ReadOnly()}, within(time.Minute)},
	"short wait":  {[]prospectkit.CallOption{prospectkit.WithAttemptTimeout(time.Second)}, within(time.Minute)},
}

func within(d time.Duration) func(context.Context) (context.Context, context.CancelFunc) {
	return func(ctx context.Context) (context.Context, context.CancelFunc) { return context.WithTimeout(ctx, d) }
}

func canceled(after time.Duration) func(context.Context) (context.Context, context.CancelFunc) {
	return func(ctx context.Context) (context.Context, context.CancelFunc) {
		ctx, cancel := context.WithCancelCause(ctx)
		if after == 0 {
			cancel(errInterrupt)
		}
		timer := time.AfterFunc(after, func() { cancel(errInterrupt) })
		return ctx, func() { timer.Stop(); cancel(nil) }
	}
}

var errInterrupt = errors.New("interrupt signal received")

// texts gathers all texts of an error, of its attempts, of events and of logs. Fields that hold
// what the service wrote are not among them.
type texts struct{ bytes.Buffer }

func (x *texts) add(err error) {
	if err == nil {
		return
	}
	fmt.Fprintf(x, "%v\n%+v\n%s\n%q\n", err, err, err, err)
	slog.New(slog.NewTextHandler(x, nil)).Error("x", "error", err)
	slog.New(slog.NewJSONHandler(x, nil)).Error("x", "error", err, "of another", fmt.Errorf("syncing: %w", err))
	switch inner := err.(type) { //nolint:errorlint // each error inside is looked at
	case interface{ Unwrap() error }:
		x.add(inner.Unwrap())
	case interface{ Unwrap() []error }:
		for _, one := range inner.Unwrap() {
			x.add(one)
		}
	}
}

func (x *texts) event(e prospectkit.Event) context.Context {
	x.add(e.Err)
	e.Err = nil
	fmt.Fprintf(x, "%+v\n%#v\n", e, e)
	return nil
}

// Each call fails in each way, within two of the limits: as it is, and one after the other.
func TestRedaction_NoTextShowsIDsQueryOrURL(t *testing.T) {
	seen, bounds := make(map[string]bool), slices.Sorted(maps.Keys(limits))
	for i, name := range slices.Sorted(maps.Keys(endings)) {
		for j, end := range slices.Sorted(maps.Keys(ends)) {
			for _, bound := range []string{"as it is", bounds[(i+j)%len(bounds)]} {
				InMemory(t, nil, func(t *testing.T, m *MemoryServer) {
					t.Helper()
					m.server.Handler = http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { Hijack(w, m.Raw) })
					var out texts
					ctx, cancel := limits[bound].bound(t.Context())
					defer cancel()
					client := NewClient(t, RoundTrip(func(r *http.Request) (*http.Response, error) { return ends[end](r, m) }),
						prospectkit.WithMaxResponseBytes(2000), prospectkit.WithLogger(slog.New(slog.NewTextHandler(&out, &slog.HandlerOptions{Level: slog.LevelDebug}))),
						prospectkit.WithObserver(func(_ context.Context, e prospectkit.Event) context.Context { return out.event(e) }))
					var info prospectkit.Info
					_, err := endings[name](ctx, client, append(limits[bound].opts, prospectkit.WithInfo(&info))...)
					out.add(err)
					for _, a := range info.Attempts {
						out.add(a.Err)
					}
					requireNothingPrivate(t, out.String(), name+", "+end+", "+bound)
					seen[strings.TrimPrefix(fmt.Sprintf("%T", err), "*prospectkit.")] = true
				})
			}
		}
	}
	require.ElementsMatch(t, slices.Collect(maps.Keys(seen)), []string{
		"Error", "OutcomeUnknownError", "RefusedError",
		"*fmt.wrapErrors", // an unknown outcome, and what was found out since
		"<nil>",
	}, "the ways are many enough, and a caller meets no other type")
}

func requireNothingPrivate(t *testing.T, text, where string) {
	t.Helper()
	for _, private := range []string{
		ListID, FolderID, strings.ToUpper(FolderID), CampaignID, RunsID, DraftID, "Zebra", "Ada", "https://", "api/v1", "q=", Token,
	} {
		if at := strings.Index(text, private); at >= 0 {
			require.Fail(t, "a text shows "+private, "%s: ...%s", where, text[max(0, at-300):min(len(text), at+100)])
		}
	}
}

// refusedArguments are calls that are refused for arguments with something private in them.
var refusedArguments = map[string]AnyCall{
	"sort key":    WithTwo((*lists).RowsPage, ListID, prospectkit.RowsParams{SortBy: zebra + `": ` + someone}),
	"enumeration": With((*lists).Create, prospectkit.NewList{Name: "x", Kind: someone}),
	"id":          With((*lists).Get, ListID+"/"+zebra),
	"range":       WithTwo((*lists).RowsPage, ListID, prospectkit.RowsParams{Filter: filter.Company{Employees: filter.AnyOf(zebra)}}),
	"body": func(ctx ctxt, c *client, _ ...option) (any, error) {
		return nil, c.Call(ctx, UnnamedOperation(op.Unsafe), refusesJSON{}, nil)
	},
	"file": With((*imports).Upload, prospectkit.Upload{Name: "x.csv", Size: 9, Open: func() (io.ReadCloser, error) {
		return nil, fmt.Errorf("open /home/%s/%s: no such file", someone, zebra)
	}}),
	"gate": func(ctx ctxt, c *client, _ ...option) (any, error) {
		gated, err := c.With(prospectkit.WithGate(func(context.Context, prospectkit.Intent) error {
			return fmt.Errorf("%s has to approve", someone)
		}))
		if err != nil {
			return nil, err
		}
		return gated.Account.Me(ctx)
	},
}

type refusesJSON struct{}

func (refusesJSON) MarshalJSON() ([]byte, error) { return nil, errors.New("no mail for " + someone) }

// A log says why a call was refused without a value of its arguments, although the text of the error quotes it.
func TestRedaction_NoLogShowsARefusedValue(t *testing.T) {
	for name, call := range refusedArguments {
		var out bytes.Buffer
		logger := slog.New(slog.NewTextHandler(&out, &slog.HandlerOptions{Level: slog.LevelDebug}))
		_, err := call(t.Context(), NewClient(t, Always(200, "{}"), prospectkit.WithLogger(logger)))
		require.ErrorAs(t, err, new(*prospectkit.RefusedError), name)
		logger.Error("x", "err", err)
		slog.New(slog.NewJSONHandler(&out, nil)).Error("x", "err", err)
		require.Equal(t, 3, strings.Count(out.String(), "reason"), "%s: %s", name, &out)
		requireNothingPrivate(t, out.String(), name)
	}
}

// Logs leave out what a problem has in quotes, by %q, and all after a colon. Each other text in a problem was looked at:
// it is a constant, a date, a duration, a method, or an error of this library's.
func TestRedaction_ProblemsQuoteTexts(t *testing.T) {
	verb := regexp.MustCompile("%[^dqc%]")
	found := make(map[string]bool)
	for _, pattern := range []string{"*.go", "*/*.go", "internal/*/*.go"} {
		names, err := filepath.Glob(Path(pattern))
		require.NoError(t, err)
		for _, name := range names {
			if strings.HasSuffix(name, "_test.go") {
				continue
			}
			file, err := parser.ParseFile(gotoken.NewFileSet(), name, nil, parser.SkipObjectResolution)
			require.NoError(t, err)
			ast.Inspect(file, func(n ast.Node) bool {
				if text, ok := problemOf(n); ok && verb.MatchString(text) {
					found[text] = true
				}
				return true
			})
		}
	}
	require.ElementsMatch(t, []string{
		"%v", // of ResumeFrom, and a file that cannot be opened or read: why
		"has the control character %U at byte %d", "has a character that nobody sees, %U, at byte %d", "must end in %s", "has the method %s, must have %s",
		"is a key of a %s, the filter is for a %s", "is %s, must be in the future", "is %s, must not be negative", "is %s, must be positive",
		"is %q, must be one of %s; the service would ignore it", // documented keys
	}, slices.Collect(maps.Keys(found)), "quote what a caller or the service wrote by %q, or put it after a colon")
}

// problemOf is the format of a problem up to a colon, if n adds one to check.Violations.
func problemOf(n ast.Node) (format string, ok bool) {
	call, ok := n.(*ast.CallExpr)
	if !ok {
		return "", false
	}
	method, ok := call.Fun.(*ast.SelectorExpr)
	at := map[string]int{"Add": 1, "Must": 2}
	if !ok || at[method.Sel.Name] == 0 || at[method.Sel.Name] >= len(call.Args) {
		return "", false
	}
	text, ok := call.Args[at[method.Sel.Name]].(*ast.BasicLit)
	if !ok || text.Kind != gotoken.STRING {
		return "", false
	}
	format, _ = strconv.Unquote(text.Value)
	format, _, _ = strings.Cut(format, ": ")
	return format, true
}
