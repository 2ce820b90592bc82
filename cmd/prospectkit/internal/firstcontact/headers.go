package firstcontact

import (
	"fmt"
	"net/http"
	"slices"
	"strconv"
	"strings"

	"example.com/prospectkit/internal/op"
)

// rateHeaders are the documented ones.
var rateHeaders = []string{"RateLimit-Limit", "RateLimit-Remaining", "RateLimit-Reset"}

const (
	minute = 60
	day    = 86_400
	epoch  = 900_000_000 // in 1998
	slack  = 2           // seconds, for rounding
)

// judgeHeaders judges the rate headers: whether they are there, their form, and what they say of the limits; then what else there is.
func (r *Run) judgeHeaders() {
	const about = "headers"
	for _, name := range rateHeaders {
		var with, without, onErrors, notOnErrors []string
		other := ""
		for _, a := range r.asks {
			if a.got == nil || a.noKey || a.got.leadsNowhere() || a.got.is(403) || a.got.status >= 500 {
				continue
			}
			here, like := a.got.rateHeader(name)
			switch failed := a.got.status >= 400; {
			case failed && here == "":
				notOnErrors = append(notOnErrors, a.name)
			case failed:
				onErrors = append(onErrors, a.name)
			case here == "":
				without = append(without, a.op.Name)
			default:
				with = append(with, a.op.Name)
			}
			if like != "" {
				other = like
			}
			if _, err := strconv.Atoi(here); here != "" && err != nil {
				r.differs(about, Documented, "%s is not an integer", name)
			}
		}
		slices.Sort(without)
		switch {
		case len(with) == 0 && len(without) > 0:
			r.differs(about, Documented, "%s is missing", name)
		case len(without) > 0:
			r.differs(about, Documented, "%s is missing from %s", name, strings.Join(slices.Compact(without), ", "))
		}
		if other != "" {
			r.differs(about, Documented, "%s is written %s", name, other)
		}
		switch {
		case len(with) > 0 && len(notOnErrors) > 0 && len(onErrors) == 0:
			r.differs(about, Assumed, "%s is missing from errors", name)
		case len(with) > 0 && len(notOnErrors) > 0:
			r.differs(about, Assumed, "%s is missing from some errors", name)
		}
	}
	r.judgeOtherHeaders(about)
	bySurface := map[op.Surface][]rate{}
	for _, a := range r.asks {
		if rate, ok := a.got.rate(); ok && !a.noKey && a.op != nowhere {
			bySurface[a.op.Surface] = append(bySurface[a.op.Surface], rate)
		}
	}
	for surface, rates := range bySurface {
		if w := op.DocumentedLimits[surface]; w != (op.Limits{}) {
			for _, text := range judgeWindow(rates, w) {
				r.differs("limits of "+string(surface), Documented, "%s", text)
			}
		}
	}
}

var bare = strings.NewReplacer("-", "", "_", "")

// rateHeader is the value of a header, and its name if it is written in another way, such as with a prefix.
func (e *exchange) rateHeader(name string) (value, like string) {
	plain := func(name string) string { return strings.ToLower(bare.Replace(name)) }
	for key, values := range e.header {
		switch {
		case strings.EqualFold(key, name):
			return values[0], ""
		case strings.HasSuffix(plain(key), plain(name)):
			value, like = values[0], key
		}
	}
	return value, like
}

// judgeOtherHeaders judges Retry-After, and tells of headers about rate limits or deprecation that are undocumented.
func (r *Run) judgeOtherHeaders(about string) {
	refused := false
	for _, e := range r.log {
		wait := e.header.Get("Retry-After")
		if e.succeeded() && wait != "" {
			r.differs(about, Documented, "Retry-After comes with a success")
		}
		if e.is(http.StatusTooManyRequests) {
			refused = true
			_, noSeconds := strconv.ParseUint(wait, 10, 63)
			_, noDate := http.ParseTime(wait)
			switch {
			case wait == "":
				r.differs(about, Documented, "Retry-After is missing from a 429")
			case noSeconds != nil && noDate == nil:
				r.differs(about, Documented, "Retry-After is a date instead of seconds")
			case noSeconds != nil:
				r.differs(about, Documented, "Retry-After is neither seconds nor a date")
			}
		}
		for key := range e.header {
			name := strings.ToLower(strings.TrimPrefix(http.CanonicalHeaderKey(key), "X-"))
			rate := strings.HasPrefix(name, "ratelimit") || strings.HasPrefix(name, "rate-limit")
			documented := slices.ContainsFunc(rateHeaders, func(d string) bool {
				_, like := e.rateHeader(d)
				return strings.EqualFold(d, key) || like == key
			})
			if (rate && !documented || name == "deprecation" || name == "sunset") && isName(key) {
				r.differs(about, Documented, "%s is undocumented", http.CanonicalHeaderKey(key))
			}
		}
	}
	if !refused {
		r.untold(about, "Retry-After: no request was refused by a rate limit")
	}
}

// rate is what the headers of one response say; -1 where one is missing.
type rate struct {
	limit, remaining, reset int64
	second                  int64 // of the minute, when it came
}

func (e *exchange) rate() (r rate, ok bool) {
	if e == nil {
		return r, false
	}
	r.second = e.at.Unix() % minute
	for i, into := range []*int64{&r.limit, &r.remaining, &r.reset} {
		value, _ := e.rateHeader(rateHeaders[i])
		n, err := strconv.ParseInt(value, 10, 64)
		if *into = n; err != nil {
			*into = -1
		}
	}
	return r, r.limit >= 0 && r.remaining >= 0
}

// judgeWindow compares the headers of one surface with its documented windows.
func judgeWindow(rates []rate, w op.Limits) (differences []string) {
	add := func(format string, args ...any) { differences = append(differences, fmt.Sprintf(format, args...)) }
	fell, compared, long, thousand := false, 0, false, false
	for i, r := range rates {
		isMinute, isDay := r.limit == int64(w.PerMinute), r.limit == int64(w.PerDay)
		switch {
		case !isMinute && !isDay:
			add("the limit is %d instead of %d a minute and %d a day", r.limit, w.PerMinute, w.PerDay)
		case isDay && r.remaining > int64(w.PerMinute):
			add("the headers describe the day, although the minute has less left")
		}
		if r.remaining > r.limit {
			add("RateLimit-Remaining is more than the limit")
		}
		longest := int64(minute)
		if isDay {
			longest = day
		}
		switch {
		case r.reset >= epoch:
			add("RateLimit-Reset is an instant instead of seconds from now")
		case r.reset > (longest-slack)*1000 && r.reset <= (longest+slack)*1000, thousand && r.reset > longest+slack:
			add("RateLimit-Reset is in milliseconds instead of seconds")
			thousand = true
		case r.reset > longest+slack:
			long = true
		case isMinute && i == 0 && r.reset >= 0 && r.remaining == r.limit-1 && r.reset < minute-slack && (r.second+r.reset+1)%minute > 1:
			add("the window of %d is shorter than a minute", r.limit)
		}
		if i > 0 && r.limit == rates[i-1].limit && r.reset <= rates[i-1].reset {
			compared++
			fell = fell || r.remaining < rates[i-1].remaining
		}
	}
	if long {
		add("a window is longer than documented")
	}
	if compared > 1 && !fell {
		add("RateLimit-Remaining does not fall from request to request")
	}
	slices.Sort(differences)
	return slices.Compact(differences)
}
