package firstcontact

import (
	"fmt"
	"maps"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"time"

	"example.com/prospectkit/cmd/prospectkit/internal/shapes"
	"example.com/prospectkit/internal/op"
)

// rateHeaders are the documented ones.
var rateHeaders = []string{"RateLimit-Limit", "RateLimit-Remaining", "RateLimit-Reset"}

// samples are the last responses of the asks, as far as a function accepts them.
func (j *judge) samples(accept func(*exchange) bool) (all []*exchange) {
	for _, a := range j.asks {
		if a.last != nil && accept(a.last) {
			all = append(all, a.last)
		}
	}
	return all
}

// isKnown reports whether a request was one of an operation, with a key: only those are counted.
func (e *exchange) isKnown() bool { return !e.ask.noKey && e.ask.op.Name != nowhere().Name }

// nameOf finds a documented header, or one that is written like it, such as one with a prefix.
func (e *exchange) nameOf(documented string) string {
	plain := func(name string) string {
		return strings.ReplaceAll(strings.ReplaceAll(strings.ToLower(name), "-", ""), "_", "")
	}
	like := ""
	for name := range e.header {
		switch {
		case strings.EqualFold(name, documented):
			return name
		case strings.HasSuffix(plain(name), plain(documented)):
			like = name
		}
	}
	return like
}

func (e *exchange) headerLike(documented string) (text string, ok bool) {
	values := e.header[e.nameOf(documented)]
	if len(values) == 0 {
		return "", false
	}
	return values[0], true
}

// headers judges the rate headers of successes and of errors, and what other headers there are.
func (j *judge) headers() {
	successes := Finding{Check: "headers: rate limits", Source: Documented}
	errors := Finding{
		Check: "headers: rate limits on errors", Source: Assumed, Rules: []string{"limits.errors"},
		Question: "whether errors carry the rate headers",
	}
	succeeded := j.samples((*exchange).succeeded)
	failed := j.samples(func(e *exchange) bool {
		return e.ask.fails != nil && e.status >= 400 && e.status != http.StatusForbidden && e.isKnown() && !j.missing[e.ask.op]
	})
	var differences, onErrors []string
	never := true
	for _, name := range rateHeaders {
		differences = append(differences, j.onSuccesses(name, succeeded)...)
		if len(succeeded) > 0 && len(lacking(name, succeeded)) == len(succeeded) {
			continue
		}
		never = false
		if missing := len(lacking(name, failed)); missing > 0 {
			onErrors = append(onErrors, fmt.Sprintf("%s is missing from %s errors", name, map[bool]string{true: "all", false: "some"}[missing == len(failed)]))
		}
	}
	j.finish(successes, differences, "")
	why := ""
	switch {
	case len(failed) == 0:
		why = "there was no error of a known endpoint"
	case never:
		why = "no response has them"
	}
	j.finish(errors, onErrors, why)
	j.others()
	j.retryAfter()
}

// lacking are the responses without a header.
func lacking(name string, all []*exchange) []*exchange {
	return slices.DeleteFunc(slices.Clone(all), func(e *exchange) bool { _, ok := e.headerLike(name); return ok })
}

// retryAfter judges how a refusal by a rate limit says how long to wait, if there was one.
func (j *judge) retryAfter() {
	const name = "Retry-After"
	refused := false
	var differences []string
	for _, e := range j.log {
		if e.status != http.StatusTooManyRequests {
			continue
		}
		refused = true
		text := e.header.Get(name)
		_, noSeconds := strconv.ParseUint(text, 10, 63)
		_, noDate := http.ParseTime(text)
		switch {
		case text == "":
			differences = append(differences, name+" is missing from a 429")
		case noSeconds != nil && noDate == nil:
			differences = append(differences, name+" is a date instead of seconds")
		case noSeconds != nil:
			differences = append(differences, name+" is neither seconds nor a date")
		}
	}
	why := ""
	if !refused {
		why = "no request was refused by a rate limit"
	}
	slices.Sort(differences)
	j.finish(Finding{Check: "headers: " + name, Source: Documented}, slices.Compact(differences), why)
}

// onSuccesses judges one header of the successes.
func (j *judge) onSuccesses(name string, all []*exchange) (differences []string) {
	garbled, seen := false, ""
	for _, e := range all {
		if text, ok := e.headerLike(name); ok {
			seen = http.CanonicalHeaderKey(e.nameOf(name))
			_, err := strconv.Atoi(text)
			garbled = garbled || err != nil
		}
	}
	var without []string
	for _, e := range lacking(name, all) {
		if !slices.Contains(without, e.ask.op.Name) {
			without = append(without, e.ask.op.Name)
		}
	}
	switch {
	case seen == "" && len(all) > 0:
		differences = append(differences, name+" is missing")
	case len(without) > 0:
		differences = append(differences, fmt.Sprintf("%s is missing from %s", name, strings.Join(without, ", ")))
	}
	if seen != "" && !strings.EqualFold(seen, name) {
		differences = append(differences, fmt.Sprintf("%s is now %s", name, seen))
	}
	if garbled {
		differences = append(differences, name+" is not an integer")
	}
	return differences
}

// others judges headers that are undocumented, as far as they are about rate limits or deprecation.
func (j *judge) others() {
	others := map[string]string{}
	for _, e := range j.log {
		for name := range e.header {
			canonical := http.CanonicalHeaderKey(name)
			if isNews(canonical) && shapes.IsName(canonical) {
				others[canonical] = canonical + " is undocumented"
			}
		}
	}
	for _, name := range rateHeaders {
		for _, e := range j.samples((*exchange).succeeded) {
			delete(others, http.CanonicalHeaderKey(e.nameOf(name)))
		}
	}
	const wait = "Retry-After"
	if slices.ContainsFunc(j.samples((*exchange).succeeded), func(e *exchange) bool { return e.header.Get(wait) != "" }) {
		others[wait] = wait + " comes with a success"
	}
	j.finish(Finding{Check: "headers: undocumented", Source: Documented}, slices.Sorted(maps.Values(others)), "")
}

// isNews reports whether a header is one of the API that is undocumented: about rate limits, deprecation or sunset. Others come
// from intermediaries.
func isNews(name string) bool {
	plain := strings.TrimPrefix(name, "X-")
	rate := strings.HasPrefix(plain, "Ratelimit") || strings.HasPrefix(plain, "Rate-Limit")
	known := func(other string) bool { return strings.EqualFold(other, name) }
	return name == "Deprecation" || name == "Sunset" || rate && !slices.ContainsFunc(rateHeaders, known)
}

// rate is what the headers of one response say.
type rate struct {
	limit, remaining, reset int64
	at                      time.Time
}

// windows judges the limits of each surface.
func (j *judge) windows() {
	bySurface := map[op.Surface][]rate{}
	for _, e := range j.samples((*exchange).isKnown) {
		r := rate{at: e.at}
		ok := true
		for i, into := range []*int64{&r.limit, &r.remaining, &r.reset} {
			text, _ := e.headerLike(rateHeaders[i])
			n, err := strconv.ParseInt(text, 10, 64)
			if err != nil && into == &r.reset { // the limit tells much without it
				n, err = unknownReset, nil
			}
			*into, ok = n, ok && err == nil
		}
		if ok {
			bySurface[e.ask.op.Surface] = append(bySurface[e.ask.op.Surface], r)
		}
	}
	for _, surface := range []op.Surface{op.Account, op.Lists, op.Agents, op.Campaigns, op.SavedSearches, op.Reference, op.Contacts} {
		f := Finding{Check: "limits: " + string(surface), Source: Documented, Rules: []string{"limits.counted"}}
		w := op.DocumentedLimits[surface]
		if w == (op.Limits{}) {
			f.Source, f.Rules, w = Assumed, []string{"limits.unshown"}, op.DocumentedLimits[op.Lists]
		}
		rates := bySurface[surface]
		if len(rates) == 0 {
			j.finish(f, nil, "no response of this surface has limit and remaining")
			continue
		}
		j.finish(f, judgeWindow(rates, w), "")
	}
}

const (
	minute = 60
	day    = 86_400
	epoch  = 900_000_000 // in 1998
	slack  = 2           // seconds, for rounding

	unknownReset = -1
)

// judgeWindow compares the headers of one surface with its documented windows.
func judgeWindow(rates []rate, w op.Limits) (differences []string) {
	add := func(format string, args ...any) {
		if text := fmt.Sprintf(format, args...); !slices.Contains(differences, text) {
			differences = append(differences, text)
		}
	}
	counted, compared, long := false, 0, int64(0)
	thousandth := inMilliseconds(rates)
	for i, r := range rates {
		isMinute, isDay := r.limit == int64(w.PerMinute), r.limit == int64(w.PerDay)
		switch {
		case !isMinute && !isDay:
			add("the limit is %d instead of %d a minute and %d a day", r.limit, w.PerMinute, w.PerDay)
		case isDay && r.remaining > int64(w.PerMinute):
			add("the headers describe the day, although the minute has less left")
		}
		if r.remaining > r.limit || r.remaining < 0 {
			add("RateLimit-Remaining is not between 0 and the limit")
		}
		switch {
		case r.reset >= epoch:
			add("RateLimit-Reset is an instant instead of seconds from now")
			continue
		case thousandth && i > 0, long > 0 && r.reset > minute+slack:
		case thousandth:
			add("RateLimit-Reset is in milliseconds instead of seconds: %d", r.reset)
		case isDay && r.reset > day+slack:
			add("the window of %d is longer than a day: %d seconds", r.limit, r.reset)
			long = r.reset
		case !isDay && r.reset > minute+slack:
			add("the window of %d is longer than a minute: %d seconds", r.limit, r.reset)
			long = r.reset
		case isMinute && i == 0 && r.reset != unknownReset && r.remaining == r.limit-1 && r.reset < minute-slack && !r.onTheMinute():
			add("the window of %d is shorter than a minute", r.limit)
		}
		if i > 0 && r.limit == rates[i-1].limit && r.reset <= rates[i-1].reset {
			compared++
			counted = counted || r.remaining < rates[i-1].remaining
		}
	}
	if compared > 1 && !counted {
		add("RateLimit-Remaining does not fall from request to request")
	}
	return differences
}

// inMilliseconds reports whether the resets of a surface are a thousand times too long: that of a new window has just the
// right length in milliseconds, or the resets fall much faster than the seconds go by.
func inMilliseconds(rates []rate) bool {
	const thousand = 1000
	for i, r := range rates {
		if r.reset >= epoch || r.reset <= minute+slack {
			continue
		}
		if r.remaining == r.limit-1 && r.reset > (minute-slack)*thousand && r.reset <= (minute+slack)*thousand {
			return true
		}
		if i == 0 {
			continue
		}
		before := rates[i-1]
		passed := int64(r.at.Sub(before.at).Seconds()) + slack
		if r.limit == before.limit && r.remaining < before.remaining && before.reset < epoch && before.reset-r.reset > 10*passed {
			return true
		}
	}
	return false
}

// onTheMinute reports whether the window may end with a minute of the clock.
func (r rate) onTheMinute() bool {
	end := (r.at.Unix() + r.reset) % minute
	return end == 0 || end == minute-1
}
