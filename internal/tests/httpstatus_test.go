package tests

import (
	"context"
	"errors"
	"net/http"
	"net/http/httptest"
	"os"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"example.com/prospectkit"
)

// answer is the block of the guide's "Errors as HTTP statuses": the test below compares them.
func answer(w http.ResponseWriter, failed error) {
	status, is := http.StatusBadGateway, func(class error) bool { return errors.Is(failed, class) }
	switch advice := prospectkit.AdviceOf(failed); {
	case prospectkit.OutcomeOf(failed) != prospectkit.OutcomeNotApplied, is(prospectkit.ErrUnauthorized), is(prospectkit.ErrForbidden):
		status = http.StatusInternalServerError // 502 to 504 would invite a repetition; 401 and 403 are about your key
	case is(prospectkit.ErrRateLimited):
		status = http.StatusServiceUnavailable
		w.Header().Set("Retry-After", strconv.Itoa(int(advice.After.Seconds())+1))
	case is(prospectkit.ErrInsufficientCredits), is(prospectkit.ErrSpendCap):
		status = http.StatusPaymentRequired
	case is(prospectkit.ErrNotFound):
		status = http.StatusNotFound
	case is(prospectkit.ErrConflict):
		status = http.StatusConflict
	case is(prospectkit.ErrInvalid):
		status = http.StatusUnprocessableEntity
	case is(context.DeadlineExceeded):
		status = http.StatusGatewayTimeout
	}
	http.Error(w, prospectkit.CodeOf(failed).Error(), status)
}

func TestDocs_ErrorsAsHTTPStatuses(t *testing.T) {
	guide, err := os.ReadFile(Path("docs", "guide.md"))
	require.NoError(t, err)
	_, section, ok := strings.Cut(string(guide), "### Errors as HTTP statuses\n")
	require.True(t, ok)
	_, rest, _ := strings.Cut(section, "```go\n")
	block, _, _ := strings.Cut(rest, "```")
	require.LessOrEqual(t, strings.Count(block, "\n"), 20)
	source, err := os.ReadFile("httpstatus_test.go")
	require.NoError(t, err)
	_, rest, _ = strings.Cut(string(source), "func answer(w http.ResponseWriter, failed error) {\n")
	body, _, _ := strings.Cut(rest, "\n}\n")
	require.Equal(t, block, strings.ReplaceAll("\n"+body+"\n", "\n\t", "\n")[1:])

	service := func(status int, code prospectkit.Code) error {
		client := NewClient(t, Always(status, Envelope(string(code))), prospectkit.WithRetry(prospectkit.RetryPolicy{MaxAttempts: 1}))
		_, err := client.Lists.Get(t.Context(), ListID, prospectkit.GetListParams{})
		require.Error(t, err)
		return err
	}
	ended, cancel := context.WithTimeout(t.Context(), time.Nanosecond)
	defer cancel()
	<-ended.Done()
	client := NewClient(t, Always(http.StatusInternalServerError, Envelope("UNEXPECTED_ERROR")))
	_, lost := client.Lists.Create(t.Context(), prospectkit.NewList{Name: "Q1"})
	_, refused := client.Lists.Create(t.Context(), prospectkit.NewList{})
	_, late := client.Account.Me(ended)
	for name, c := range map[string]struct {
		err  error
		want int
	}{
		"unknown":      {lost, 500},
		"another's":    {errors.New("of another package"), 500},
		"our key":      {service(401, prospectkit.CodeUnauthorized), 500},
		"our scope":    {service(403, prospectkit.CodeInsufficientScope), 500},
		"missing":      {service(404, prospectkit.CodeListNotFound), 404},
		"conflict":     {service(409, prospectkit.CodeListProcessing), 409},
		"arguments":    {refused, 422},
		"invalid":      {service(422, prospectkit.CodeValidationFailed), 422},
		"credits":      {service(402, prospectkit.CodeInsufficientCredits), 402},
		"a read":       {service(500, prospectkit.CodeUnexpectedError), 502},
		"wait refused": {&prospectkit.RateLimitWaitError{Wait: 1500 * time.Millisecond}, 503},
		"deadline":     {late, 504},
	} {
		w := httptest.NewRecorder()
		answer(w, c.err)
		require.Equal(t, c.want, w.Code, "%s: %v", name, c.err)
		if c.want == http.StatusServiceUnavailable {
			require.Equal(t, "2", w.Header().Get("Retry-After"))
		}
	}
}
