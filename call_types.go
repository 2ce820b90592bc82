package prospectkit

import (
	"context"
	"net/http"
	"net/url"
	"strings"
	"time"

	"github.com/hashicorp/go-retryablehttp"

	"example.com/prospectkit/internal/budget"
	"example.com/prospectkit/internal/check"
	"example.com/prospectkit/internal/credential"
	"example.com/prospectkit/internal/exchange"
	"example.com/prospectkit/internal/op"
	"example.com/prospectkit/internal/pagewalk"
	"example.com/prospectkit/internal/ratehdr"
	"example.com/prospectkit/internal/upload"
	"example.com/prospectkit/journal"
	"example.com/prospectkit/spend"
)

// args are the arguments of a method, before any check.
type args struct {
	// The request.
	ids       []string // for the parameters of the path, in order
	query     any      // a struct with url tags, or nil
	body      any      // anything encoding/json knows, or nil
	extra     []Fields // beside the fields of the body
	form      bool     // the body goes as a multipart form
	upload    *upload.Body
	pageToken string // the scroll token or cursor of a later page: an attempt may use it up, and no error or log shows it
	check     func(*check.Violations)

	// What it means.
	path            string           // that of an operation of the caller of Call, as given; empty for one of the table
	free            bool             // spends no credits, although the operation may
	refusalMaySpend func(error) bool // reports whether a refusal may come after the credits were spent; nil: none does
	cost            spend.Call       // what is known of its cost, beside operation, ids and body
	lookup          journal.Lookup   // what look needs, beside the ids
	look            look             // the read that shows its effect, as in looks of the service; nil: none does
	before          int              // attempts of the method in earlier calls

	// What else keeps it from being sent; nil: nothing.
	lastLook      func(context.Context) (*readEvidence, error) // reads what the approval of a review rests on, once the gates have agreed
	beforeAttempt func(*call) error                            // of each attempt, after its ticket, which others find
}

// expected is what a method knows of the response, beyond the row of the operation. What is left out is nothing; do is
// for methods that know no more than its type. If the response repeats an id or a name of the request, begin with repeatsID or
// repeatsName. If the row Confirms and its response is typed, let take fill in what is known. The functions read what was decoded into out.
type expected struct {
	out any // a pointer to what each response is decoded into, as for encoding/json

	// proof reports whether a response holds what only the service can know about the call. If nil, what it repeats proves it, or its
	// content, or the documented shape of its response proves a read, free or paid, and nothing proves a write.
	proof func() bool

	// What the call sent, and where the response repeats it. If both are the same, that proves the response. If the response shows
	// something that is not even near, it is the response to another request.
	sent       string
	shown      *string // nil: nothing repeats it
	same, near func(shown, sent string) bool

	resultID func() string    // of what the call made, for the journal; nil: nothing that has one
	accept   func() error     // refuses a response that lacks what nobody can do without: of a write, it then counts as lost
	made     func() time.Time // when it was made, by the response; nil: nothing tells
	take     func() error     // takes the response once it is known to be the service's, or none: see acceptWithoutBody; its error is that of the call
	shape    op.Shape         // if it differs from the operation's
	maxItems int              // of a page, at most; 0: 10,000
}

func repeatsID(id string, shown *string) expected {
	return expected{sent: id, shown: shown, same: sameID, near: sameID}
}

// repeatsName expects a response that shows the name of what the call makes, or none. The service may change its form.
func repeatsName(name string, shown *string) expected {
	same := func(a, b string) bool { return strings.TrimSpace(a) == strings.TrimSpace(b) }
	return expected{sent: name, shown: shown, same: same, near: pagewalk.Near}
}

// call is one call: its plan, the results of its attempts, and the buffers that every call needs once, allocated together.
type call struct {
	plan
	tally

	bad          check.Violations
	client       http.Client
	loop         retryablehttp.Client
	request      http.Request
	loopRequest  retryablehttp.Request
	firstAttempt attempt
	first        [1]Attempt
}

// plan is what is sent, and within which limits. It is fixed after prepare, the start of the observers and the gates.
type plan struct {
	conf     *config
	op       *op.Op
	in       args
	method   string
	route    string          // the path template, as errors and events show it
	template string          // that of WithRoutes or the path of Call; empty: route
	ctx      context.Context //nolint:containedctx // the call is the scope of this context
	opts     callConfig
	timeout  time.Duration // of one attempt
	surface  *surface
	evidence *readEvidence // of args.lastLook, once the gates have agreed
	spends   bool          // see consequences
	sends    bool

	url    url.URL
	header http.Header
	body   []byte
	given  []byte   // its JSON, before it becomes a form
	sum    []byte   // of what the caller gave, for Once
	shape  op.Shape // of the response
	want   expected
}

// tally is the results of the attempts so far.
type tally struct {
	began         time.Time
	attempts      []Attempt
	status        int // of the last attempt; 0 without a response
	length        int // of its response
	respHeader    http.Header
	cached        bool // the last response comes from a cache
	rate          RateLimit
	requestID     string // of the last unsuccessful response that had one
	errorResponse *Error // of the last attempt; nil unless its response was unsuccessful or refused
	earlier       *Error // the previous one, reported if the context ends mid-attempt
	cause         error  // why the last attempt has no usable response
	done          bool   // a success was decoded

	// What follows the last attempt.
	next        step
	pause       time.Duration // before the next one
	pausing     time.Time     // since when it pauses; zero if it does not
	waited      time.Duration // for rate limits and before retries
	surfaceHold time.Duration // of the whole surface, after a 429
	tooLate     bool          // no time was left for the next attempt

	// Why an attempt was not sent: a rule, which refused the first one, or the limiter.
	refused     *RefusedError
	earlierCall *journal.Entry // the earlier call with the key of Once
	waitError   *waitError

	// What may have happened, for resolution, journal and guard.
	unknown   *OutcomeUnknownError // of the first attempt whose outcome is unknown
	firstSent time.Time            // the first attempt that may have had an effect
	lastSent  time.Time
	gaveUp    bool   // the last attempt had no response when this side ended it
	ticketID  string // empty until the call needs a ticket
	open      bool   // not seeing the effect will prove nothing
	reserved  bool   // credits, by the guard

	key     *credential.Key // of the last attempt, if the client has a source of keys
	rekeyed bool            // another one was asked for
}

type attempt struct {
	call           *call
	report         budget.Report
	began          time.Time
	ended          time.Time // zero until it has
	truncated      bool      // the end of the upload was not sent
	expired        bool      // its context had ended by then
	unrecorded     bool      // it may be sent, and its result is not recorded yet
	delivery       string    // set by send
	abandoned      bool      // the exchange ignored its context and Close, and may go on
	hasRateHeaders bool      // the response has rate headers, and may be the service's
	rate           ratehdr.Rate

	request   http.Request
	timeLimit exchange.TimeLimit
	upload    *exchange.Upload
	exchange  exchange.Exchange
	exchange.Result

	trace *exchange.Trace // nil: there is none
}

// step is what follows an attempt: a cell of the decision table in call_retry.go.
type step int

const (
	stepStop    step = iota + 1 // return the error
	stepUnknown                 // return OutcomeUnknownError
	stepLost                    // it was applied: return what is known of the result, or an *Error of class ErrResponseLost

	// From here on, another attempt follows: see retries.
	stepRetry  // after a backoff, if attempts and the retry allowance are left
	stepResend // after a backoff, if attempts are left; needs no allowance, since the service processed nothing
	stepWait   // the surface is held for Retry-After, or a backoff without it: admit waits, not c.pause
	stepRekey  // with another key, unless the source has none
)

// String describes the step, for observers.
func (s step) String() string {
	return [...]string{
		stepStop:    "return the error",
		stepUnknown: "return an unknown outcome",
		stepLost:    "return that it was applied",
		stepRetry:   "retry",
		stepResend:  "resend",
		stepWait:    "wait and resend",
		stepRekey:   "ask for another key and resend",
	}[s]
}

func (s step) retries() bool { return s >= stepRetry }
