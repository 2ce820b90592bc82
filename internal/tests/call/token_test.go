package call_test

import (
	"cmp"
	"context"
	"errors"
	"net/http"
	"slices"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"example.com/prospectkit"
	"example.com/prospectkit/internal/tests"
)

// lock accepts one token, and notes all that it gets.
type lock struct {
	valid string
	got   []string
	body  string // of a rejection; default: the service's
	deny  int    // the status of a rejection; default: 401
	page  string // of a success; default: a list
}

func (l *lock) RoundTrip(r *http.Request) (*http.Response, error) {
	name, _, _ := r.BasicAuth()
	l.got = append(l.got, name)
	switch {
	case name != l.valid:
	case l.page != "":
		return tests.Respond(http.StatusOK, l.page, "Content-Type", "text/html"), nil
	default:
		return tests.Respond(http.StatusOK, `{"list":`+tests.OneList+`}`), nil
	}
	if l.body != "" {
		return tests.Respond(http.StatusUnauthorized, l.body, "Content-Type", "text/html"), nil
	}
	return tests.Respond(cmp.Or(l.deny, http.StatusUnauthorized), tests.Envelope("UNAUTHORIZED")), nil
}

func (l *lock) client(t *testing.T, token string, s *tests.Source, opts ...prospectkit.ClientOption) *prospectkit.Client {
	t.Helper()
	opts = append([]prospectkit.ClientOption{prospectkit.WithTransport(l), prospectkit.WithTokenSource(s.Token)}, opts...)
	client, err := prospectkit.New(tests.BaseURL, token, opts...)
	require.NoError(t, err)
	return client
}

func TestToken_Changes(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		l, s := &lock{valid: "key-2"}, &tests.Source{Tokens: []string{"key-2"}}
		var seen []prospectkit.Event
		client := l.client(t, "key-1", s, tests.Events(&seen))
		began := time.Now()
		require.NoError(t, tests.Move(t.Context(), client))
		require.Zero(t, time.Since(began), "there is nothing to wait for")
		require.Equal(t, []string{"key-1", "key-2"}, l.got)
		require.NoError(t, tests.Move(t.Context(), client))
		derived := tests.Derived(t, client, prospectkit.WithUserAgent("derived"))
		require.NoError(t, tests.Move(t.Context(), derived))
		require.Equal(t, []string{"key-1", "key-2", "key-2", "key-2"}, l.got)
		require.Equal(t, 1, s.Asked)
		at := slices.IndexFunc(seen, func(e prospectkit.Event) bool { return e.Next != "" })
		require.Equal(t, "the key was rejected", seen[at].Reason)
		require.Equal(t, "ask for another key and resend", seen[at].Next)
		require.Equal(t, prospectkit.CodeUnauthorized, seen[at].Code)
	})
}

// Without a first token, the source is asked when the first call needs one, and never by New.
func TestToken_FromTheSourceAlone(t *testing.T) {
	l, s := &lock{valid: "key-1"}, &tests.Source{Tokens: []string{"key-1"}}
	client := l.client(t, "", s, prospectkit.ReadOnly())
	require.ErrorAs(t, tests.Move(t.Context(), client), new(*prospectkit.RefusedError))
	require.Zero(t, s.Asked, "a refused call needs no token")
	require.NoError(t, tests.Discard(client.Lists.Get(t.Context(), tests.ListID)))
	require.Equal(t, []string{"key-1"}, l.got)
	_, err := prospectkit.New(tests.BaseURL, "")
	require.Equal(t, []string{"token must not be empty"}, tests.Refusals(t, err))
	_, err = prospectkit.New(tests.BaseURL, "a:b", prospectkit.WithTokenSource(s.Token))
	require.Equal(t, []string{"token has a colon, which HTTP Basic cannot carry"}, tests.Refusals(t, err))
	_, err = prospectkit.New(tests.BaseURL, "key-1", prospectkit.WithTokenSource(nil))
	require.Equal(t, []string{"WithTokenSource got nil"}, tests.Refusals(t, err))
}

// The same token again, or a second one that is rejected, too, ends the call with the 401.
func TestToken_NoneThatWorks(t *testing.T) {
	for _, c := range []struct {
		source []string
		want   []string
		asked  int
		text   string
	}{
		{[]string{"key-1"}, []string{"key-1"}, 1, "the token source has no other key"},
		{[]string{"key-2"}, []string{"key-1", "key-2"}, 1, ""},
	} {
		l, s := new(lock), &tests.Source{Tokens: c.source}
		err := tests.Move(t.Context(), l.client(t, "key-1", s))
		e := tests.AsError(t, err)
		require.ErrorIs(t, err, prospectkit.CodeUnauthorized)
		require.Equal(t, prospectkit.OutcomeNotApplied, prospectkit.OutcomeOf(err))
		require.Equal(t, http.StatusUnauthorized, e.Status)
		require.Len(t, e.Attempts, len(c.want))
		require.Contains(t, err.Error(), c.text)
		require.Equal(t, c.want, l.got)
		require.Equal(t, c.asked, s.Asked)
	}
}

// A source that fails is an error of its own before anything was sent, and stands beside a 401.
func TestToken_SourceFails(t *testing.T) {
	sealed := errors.New("vault is sealed for key-1, id 65f0c0ffee65f0c0ffee65f0")
	l, s := new(lock), &tests.Source{Tokens: []string{""}, Err: sealed}
	book := new(tests.Notebook)
	var seen []prospectkit.Event
	err := tests.Move(t.Context(), l.client(t, "", s, prospectkit.WithJournal(book), tests.Events(&seen)))
	refused := tests.AsRefused(t, err)
	require.Equal(t, prospectkit.RuleToken, refused.Rule)
	require.ErrorIs(t, err, sealed)
	require.Equal(t, tests.NoWait, tests.Waits(err))
	require.Equal(t, prospectkit.OutcomeNotApplied, prospectkit.OutcomeOf(err))
	require.Empty(t, l.got)
	require.Empty(t, book.Sent, "nothing is sent, so there is no ticket")
	require.Len(t, seen, 1)

	client := l.client(t, "key-1", s)
	err = tests.Move(t.Context(), client)
	require.ErrorIs(t, err, prospectkit.ErrUnauthorized)
	require.ErrorIs(t, err, sealed)
	require.NotContains(t, err.Error(), "key-1")
	require.Equal(t, []string{"key-1"}, l.got)
	require.ErrorAs(t, tests.Move(t.Context(), client), new(*prospectkit.RefusedError), "a rejected key is not sent again")
	l.valid, s.Tokens, s.Err = "key-3", []string{"key-3"}, nil
	require.NoError(t, tests.Move(t.Context(), client))
}

// A source that hangs is bounded by the context, and by the time limit of an attempt.
func TestToken_SourceHangs(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		hang := make(chan struct{})
		defer close(hang)
		l := new(lock)
		client, err := prospectkit.New(tests.BaseURL, "", prospectkit.WithTransport(l), prospectkit.WithTokenSource(func(context.Context) (string, error) {
			<-hang
			return "late", nil
		}))
		require.NoError(t, err)
		ctx := tests.Within(t, time.Second)
		began := time.Now()
		err = tests.Move(ctx, client)
		require.ErrorIs(t, err, context.DeadlineExceeded)
		require.ErrorAs(t, err, new(*prospectkit.RefusedError))
		require.Equal(t, 1200*time.Millisecond, time.Since(began))
		began = time.Now()
		err = tests.Move(t.Context(), client, prospectkit.WithAttemptTimeout(3*time.Second))
		require.ErrorContains(t, err, "the token source did not return in time")
		require.Equal(t, 3*time.Second, time.Since(began), "it is not asked again while it hangs")
		require.Empty(t, l.got)
	})
}

// A source that calls its own client does not wait for itself.
func TestToken_SourceCallsItsClient(t *testing.T) {
	l := new(lock)
	var client *prospectkit.Client
	client, err := prospectkit.New(tests.BaseURL, "", prospectkit.WithTransport(l), prospectkit.WithTokenSource(func(ctx context.Context) (string, error) {
		_, err := client.Account.Me(ctx)
		return "key-1", err
	}))
	require.NoError(t, err)
	require.ErrorContains(t, tests.Move(t.Context(), client), "makes a call with the client that asks it")
	require.Empty(t, l.got)
}

// Where a call may make one attempt only, the next call has the other token.
func TestToken_WithoutRetries(t *testing.T) {
	l, s := &lock{valid: "key-2"}, &tests.Source{Tokens: []string{"key-2"}}
	client := l.client(t, "key-1", s, tests.OneAttempt)
	require.ErrorIs(t, tests.Move(t.Context(), client), prospectkit.ErrUnauthorized)
	require.Zero(t, s.Asked)
	require.NoError(t, tests.Move(t.Context(), client))
	require.Equal(t, []string{"key-1", "key-2"}, l.got)
}

// A 401 that is not the service's proves nothing, and neither does one of a client that has no source.
func TestToken_OtherRejections(t *testing.T) {
	l, s := &lock{valid: "key-2", body: "<html>401</html>"}, &tests.Source{Tokens: []string{"key-2"}}
	tests.RequireUnknown(t, tests.Move(t.Context(), l.client(t, "key-1", s)))
	require.Zero(t, s.Asked)
	l.body = tests.Envelope("INSUFFICIENT_SCOPE")
	require.ErrorIs(t, tests.Move(t.Context(), l.client(t, "key-1", s)), prospectkit.CodeInsufficientScope)
	require.Zero(t, s.Asked)
	l.body = ""
	require.ErrorIs(t, tests.Move(t.Context(), tests.NewClient(t, l)), prospectkit.ErrUnauthorized)
	require.Len(t, l.got, 3)
}

// A rejected key is one by its code, whatever 4xx it comes with: an intermediary may have changed that. A redirect proves nothing.
func TestToken_RejectedByItsCode(t *testing.T) {
	for _, status := range []int{400, 401, 403, 422, 451} {
		l, s := &lock{valid: "key-2", deny: status}, &tests.Source{Tokens: []string{"key-2"}}
		require.NoError(t, tests.Move(t.Context(), l.client(t, "key-1", s)), status)
		require.Equal(t, []string{"key-1", "key-2"}, l.got)
	}
	l, s := &lock{valid: "key-2", deny: 399}, &tests.Source{Tokens: []string{"key-2"}}
	tests.RequireUnknown(t, tests.Move(t.Context(), l.client(t, "key-1", s)))
	require.Equal(t, []string{"key-1"}, l.got)
}

// Each attempt of a write has its ticket.
func TestToken_TicketBeforeEachAttempt(t *testing.T) {
	l, s, book := &lock{valid: "key-2"}, &tests.Source{Tokens: []string{"key-2"}}, new(tests.Notebook)
	require.NoError(t, tests.Move(t.Context(), l.client(t, "key-1", s, prospectkit.WithJournal(book))))
	require.Len(t, book.Sent, 2)
	require.Equal(t, book.Sent[0].ID, book.Sent[1].ID)
	require.False(t, book.Sent[1].FirstSent.Before(book.Sent[0].LastSent), "the first attempt has changed nothing")
}

// A derived client with a source of its own begins with the current token, which stays hidden, too.
func TestToken_SourceOfADerivedClient(t *testing.T) {
	l, s := &lock{valid: "key-1-secret"}, &tests.Source{Tokens: []string{"key-1-secret"}}
	client := l.client(t, "", s)
	require.NoError(t, tests.Move(t.Context(), client))
	other := &tests.Source{Tokens: []string{"key-2-secret"}}
	derived := tests.Derived(t, client, prospectkit.WithTokenSource(other.Token))
	require.NoError(t, tests.Move(t.Context(), derived))
	l.valid = "key-2-secret"
	require.NoError(t, tests.Move(t.Context(), derived))
	require.Equal(t, []string{"key-1-secret", "key-1-secret", "key-1-secret", "key-2-secret"}, l.got)
	l.valid, l.body = "", `{"error":{"code":"INVALID_REQUEST","message":"key-1-secret, key-2-secret"}}`
	require.Equal(t, "[hidden], [hidden]", tests.AsError(t, tests.Move(t.Context(), derived)).Message)
}

// What follows a failure is told, whatever the kind of call: after a rejected key another one, and after a response that is not the
// service's, a retry of reads with the key that there is.
func TestToken_DecisionsAreTold(t *testing.T) {
	decisions := func(t *testing.T, l *lock, call string) (next []string, took time.Duration) {
		t.Helper()
		var seen []prospectkit.Event
		client := l.client(t, "key-1", &tests.Source{Tokens: []string{"key-2"}}, tests.Events(&seen))
		began := time.Now()
		_ = called(call)(t.Context(), client)
		return tests.NextSteps(seen), time.Since(began)
	}
	for _, call := range []string{"lists.get", "search.prospects", "lists.move"} {
		synctest.Test(t, func(t *testing.T) {
			next, took := decisions(t, &lock{valid: "key-2"}, call)
			require.NotEmpty(t, next, call)
			require.Equal(t, "ask for another key and resend", next[0], call)
			require.Zero(t, took, call)
		})
	}
	synctest.Test(t, func(t *testing.T) {
		next, took := decisions(t, &lock{valid: "key-1", page: "<html>welcome</html>"}, "lists.get")
		require.Equal(t, []string{"retry", "retry", "return the error"}, next)
		require.Positive(t, took, "with a backoff")
	})
}
