package prospectkit

import (
	"context"
	"fmt"
	"iter"
	"maps"
	"net/http"
	"os"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"example.com/prospectkit/internal/credential"
	"example.com/prospectkit/internal/exchange"
	"example.com/prospectkit/internal/op"
)

// The tables of README.md and docs/safety.md say what this package decides: for the failures that their rows begin with or name,
// and for every status that a response can have.

const safetyPage = "docs/safety.md"

var decisionColumns = []string{"What happened", "Read", "Read that costs credits", "Write"}

// safetyCells and readmeCells are how each page says what follows.
var (
	safetyCells = map[step]string{
		stepStop: "error", stepUnknown: "outcome unknown", stepLost: "response lost", stepRetry: "retried", stepResend: "resent",
		stepWait: "resent after `Retry-After`", stepRekey: "resent once",
	}
	readmeCells = map[step]string{
		stepStop: "no", stepUnknown: "no: outcome unknown", stepLost: "no: response lost", stepRetry: "retried", stepResend: "retried",
		stepWait: "after `Retry-After`", stepRekey: "with another key of `WithTokenSource`",
	}
)

func TestRetryDocs_Safety(t *testing.T) {
	rows := failureRows(t)
	for f, row := range rows {
		require.Equal(t, decidedCells(f, safetyCells), row[1:], row[0])
	}
	eachStatus(func(status int, service bool) {
		f, named := classifyStatus(status, service), naming(maps.Values(rows), 0, status, service)
		require.Contains(t, named, rows[f], "%d, of the service: %t: %s", status, service, decisions[f].reason)
		if !isSuccess(status) { // what a success is depends on its body, too
			require.Len(t, named, 1, "%d, of the service: %t", status, service)
		}
	})
}

func TestRetryDocs_Readme(t *testing.T) {
	rows, known := tableRows(t, "README.md", decisionColumns), failureRows(t)
	var named []int
	said := map[failure]bool{}
	for _, row := range rows {
		cells := row[1:]
		for i := range cells {
			if cells[i] == "the same" {
				cells[i] = cells[i-1]
			}
		}
		var failures []failure
		eachStatus(func(status int, service bool) {
			if _, ok := namesStatus(row[0], status, service); ok { // a bare status is anyone's
				failures, named = append(failures, classifyStatus(status, service)), append(named, status)
			}
		})
		failures = append(failures, failuresNamed(row[0], known)...)
		require.NotEmpty(t, failures, "nothing in this row is known: %s", row[0])
		for _, f := range failures {
			want := decidedCells(f, readmeCells)
			said[f] = true
			for i := range cells {
				cell, except, _ := strings.Cut(cells[i], ", unless it is ")
				require.Equal(t, want[i], cell, "%s: %s", row[0], decisions[f].reason)
				if except == "" {
					continue
				}
				others := failuresNamed(except, known)
				require.Len(t, others, 1, except)
				require.Contains(t, known[others[0]][0], " that is "+except+": ", "all of it")
				said[others[0]] = true
				require.Equal(t, readmeCells[stepStop], decidedCells(others[0], readmeCells)[i], except)
			}
		}
	}
	require.ElementsMatch(t, slices.Collect(maps.Keys(said)), []failure{
		failNotSent, failRateLimited, failKeyRejected, failRejected, failService, failGateway, failCut, failLost, failUnusable,
	}, "the others are in "+safetyPage)
	for _, code := range op.Codes {
		for _, status := range code.Statuses {
			require.Contains(t, named, status, "a documented status of %s", code.Name)
		}
	}
}

func TestRetryDocs_Delivery(t *testing.T) {
	outcomes := map[step]Outcome{stepUnknown: OutcomeUnknown, stepLost: OutcomeApplied}
	check := func(f failure, row []string) {
		want, said := OutcomeNotApplied, row[2]
		if other, ok := outcomes[decide(f, op.Unsafe, false)]; ok {
			want = other
		}
		said, _, _ = strings.Cut(said, ",")
		require.Equal(t, string(want), said, "%s: %s", row[1], decisions[f].reason)
	}
	deliveries := map[string]bool{}
	var responses [][]string
	for _, row := range tableRows(t, safetyPage, []string{"Delivery", "Proof", "Outcome of the attempt"}) {
		delivery := row[0]
		deliveries[delivery] = true
		if delivery == "confirmed" {
			responses = append(responses, row)
			continue
		}
		c := &call{plan: plan{op: op.ListsCreate, ctx: context.Background()}}
		check(c.classifyIncomplete(&attempt{delivery: delivery}, nil), row)
	}
	require.ElementsMatch(t, slices.Collect(maps.Keys(deliveries)), []string{
		"not sent", "unprocessed", "unknown", "cut short", "confirmed",
	})
	eachStatus(func(status int, service bool) {
		named := naming(slices.Values(responses), 1, status, service)
		require.NotEmpty(t, named, "%d, of the service: %t", status, service)
		for _, row := range named {
			check(classifyStatus(status, service), row)
		}
	})
}

func TestRetryDocs_Defaults(t *testing.T) {
	client, err := New("https://api.example.com/api/v1", "token")
	require.NoError(t, err)
	retry, wait := client.conf.retry, client.conf.maxWait
	words := map[int]string{1: "one", 2: "two", 3: "three", 4: "four", 5: "five"}
	usually, agents := op.ListsCreate.VisibleAfter.Seconds(), op.AgentsActivate.VisibleAfter.Seconds()
	for page, said := range map[string][]string{
		"docs/guide.md": {
			fmt.Sprintf("| %d attempts, %d ms doubling to %.0f s |", retry.MaxAttempts, retry.BaseDelay.Milliseconds(), retry.MaxDelay.Seconds()),
			fmt.Sprintf("| %.0f minutes | 0 refuses every wait", wait.Minutes()),
		},
		"README.md": {
			"at most " + words[retry.MaxAttempts] + " attempts", "waits at most " + words[int(wait.Minutes())] + " minutes for a rate limit",
		},
		safetyPage: {
			fmt.Sprintf("%.0f s after the last attempt ended, or would have if nothing had cut it, for agents at least %.0f s after the call; "+
				"in another process, %.0f s after it was sent, for agents %.0f s.", usually, agents,
				usually+op.ListsCreate.Timeout.Seconds(), agents+op.AgentsActivate.Timeout.Seconds()),
			fmt.Sprintf("it looks for %.0f s, or for half of the time", usually),
		},
		"client.go":       {fmt.Sprintf("%.0f s, for agents %.0f s.", usually+op.ListsCreate.Timeout.Seconds(), agents+op.AgentsActivate.Timeout.Seconds())},
		"outcome.go":      {fmt.Sprintf("until %.0f s after the last attempt, for agents %.0f s after the call", usually, agents)},
		"lists_ensure.go": {fmt.Sprintf("it looks for the list for %.0f s, or for half of the time", usually)},
	} {
		text, err := os.ReadFile(page)
		require.NoError(t, err)
		prose := strings.ReplaceAll(strings.Join(strings.Fields(string(text)), " "), " // ", " ") // however its lines wrap
		for _, sentence := range said {
			require.Contains(t, prose, sentence, page)
		}
	}
}

// tableRows returns the rows below a header.
func tableRows(t *testing.T, page string, header []string) (rows [][]string) {
	t.Helper()
	text, err := os.ReadFile(page)
	require.NoError(t, err)
	_, rest, ok := strings.Cut(string(text), "\n| "+strings.Join(header, " | ")+" |\n")
	require.True(t, ok, "%s has no table %q", page, header)
	for line := range strings.Lines(rest) {
		line, ok := strings.CutPrefix(strings.TrimSpace(line), "| ")
		if !ok {
			if strings.HasPrefix(line, "|-") {
				continue
			}
			break
		}
		row := strings.Split(strings.TrimSuffix(line, " |"), " | ")
		require.Len(t, row, len(header), line)
		rows = append(rows, row)
	}
	require.NotEmpty(t, rows)
	return rows
}

// failureRows returns the rows of docs/safety.md by the failure whose reason each begins with: one for each.
func failureRows(t *testing.T) map[failure][]string {
	t.Helper()
	rows := map[failure][]string{}
	for _, row := range tableRows(t, safetyPage, decisionColumns) {
		f := failNotSent
		for int(f) < len(decisions) && !strings.HasPrefix(row[0], decisions[f].reason) {
			f++
		}
		require.Less(t, int(f), len(decisions), "no reason of the decision table: %s", row[0])
		require.NotContains(t, rows, f, row[0])
		rows[f] = row
	}
	for f := failNotSent; int(f) < len(decisions); f++ {
		require.Contains(t, rows, f, "%s has no row %q", safetyPage, decisions[f].reason)
	}
	return rows
}

// decidedCells is what follows a failure, in the words of a page.
func decidedCells(f failure, words map[step]string) []string {
	if f == failRepeated {
		return []string{"-", "-", words[decide(f, op.Unsafe, false)]} // no read can fail like that
	}
	paid := words[decide(f, op.PaidRead, false)]
	if decide(f, op.PaidRead, true) != decide(f, op.PaidRead, false) {
		paid += ", but no later page of a search"
	}
	return []string{words[decide(f, op.Read, false)], paid, words[decide(f, op.Unsafe, false)]}
}

// failuresNamed returns the failures of which the text has a part that only the row of docs/safety.md has.
func failuresNamed(text string, rows map[failure][]string) (named []failure) {
	for _, part := range parts.Split(text, -1) {
		var found []failure
		for f, row := range rows {
			if strings.Contains(row[0], part) {
				found = append(found, f)
			}
		}
		if len(found) == 1 && !slices.Contains(named, found[0]) && !statusForm.MatchString(part) {
			named = append(named, found[0])
		}
	}
	return named
}

func eachStatus(visit func(status int, service bool)) {
	for status := 200; status < 600; status++ {
		visit(status, true)
		visit(status, false)
	}
}

// classifyStatus is the failure of a response. One of the service has its envelope and the rate headers.
func classifyStatus(status int, service bool) failure {
	c := &call{plan: plan{conf: &config{relayed: new(exchange.Relayed)}, op: op.ListsCreate}}
	c.conf.setKeys(credential.New("", func(context.Context) (string, error) { return "", nil }))
	if service && !isSuccess(status) {
		c.errorResponse.Code = CodeListNotFound
		if status == http.StatusUnauthorized {
			c.errorResponse.Code = CodeUnauthorized
		}
	}
	return c.classify(&attempt{hasRateHeaders: service}, &http.Response{StatusCode: status}, nil)
}

var (
	parts      = regexp.MustCompile(`, or |, | or |; |: `)
	statusForm = regexp.MustCompile(`\b[2-5](\d\d|xx)\b|redirect`)
	ofService  = regexp.MustCompile(`error envelope|(of|from|by) the service|the service rejects`)
	ofOthers   = regexp.MustCompile(`without (the envelope|proof)`)
)

// naming returns the rows that name a status, or if there is none, those that name its hundred.
func naming(rows iter.Seq[[]string], column, status int, service bool) [][]string {
	var exactly, roughly [][]string
	for row := range rows {
		switch exact, named := namesStatus(row[column], status, service); {
		case exact:
			exactly = append(exactly, row)
		case named:
			roughly = append(roughly, row)
		}
	}
	if len(exactly) > 0 {
		return exactly
	}
	return roughly
}

// namesStatus reports whether a text names a status, as 503, or its hundred, as 5xx. What is before a colon holds for all of it.
func namesStatus(text string, status int, service bool) (exact, named bool) {
	whole := ofService.MatchString(strings.SplitN(text, ": ", 2)[0]) && strings.Contains(text, ": ")
	for _, part := range parts.Split(text, -1) {
		if !service && (whole || ofService.MatchString(part)) || service && ofOthers.MatchString(part) {
			continue
		}
		form := strings.Replace(statusForm.FindString(part), "redirect", "3xx", 1)
		exact = exact || form == strconv.Itoa(status)
		named = named || exact || form == strconv.Itoa(status/100)+"xx"
	}
	return exact, named
}
