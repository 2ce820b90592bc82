package budget

import (
	"math"
	"time"
)

// share is our part of the minute while others are active. Each process of a fleet compares how much is left of the window with how much is
// left of its time. Where more requests are left than time, all parts grow, else they shrink, in proportion. A large part grows a little
// less than a small one, which makes them equal in the end.
type share struct {
	until  time.Duration // others were seen not long before
	low    float64       // lower and upper bound of our requests that the window serves if others take none: others took the difference
	high   float64
	done   int64         // requests of ours that were complete with the response that tells the lower one
	before bool          // others have used some of the window, perhaps before we came
	part   float64       // of the minute; all of it is 1
	grown  time.Duration // when it was last changed, or will be
	pace   float64       // requests a second until the window resets
	reset  time.Duration
	base   float64       // a second after that
	credit float64       // requests that the pace has earned
	most   float64       // of them
	at     time.Duration // when it had
}

// view is what a response says about the minute.
type view struct {
	limit, left float64
	ours        float64       // all of our requests that may be counted in it
	over, done  int64         // requests of ours that were complete when it was sent, and are
	low, high   float64       // bounds of our requests that the window serves, if others take none
	open        float64       // left, when those in flight are counted
	rest        time.Duration // until it resets
}

const (
	kept       = 0.15             // of a minute, or the root of its limit, is left to others who may come; that shrinks to nothing as it ends
	remembered = 3 * time.Minute  // others, since they were last seen
	comeback   = 12 * time.Second // within which a refused process asks again: within the next one when it is refused again
)

func (s *state) shared(now time.Duration) bool { return now < s.share.until && s.limits[Minute] > 0 }

// yields is when others have had their part before a request with so many ahead of it, those in flight included.
func (s *state) yields(now time.Duration, ahead int64) time.Duration {
	f, limit := &s.figures[Minute], float64(s.limits[Minute])
	if s.shared(now) {
		return min(s.share.until, s.share.due(now, ahead-s.open))
	}
	if f.left <= 0 || now >= f.reset || limit == 0 {
		return now
	}
	left := float64(f.left-ahead) - 0.5
	return min(f.reset, f.reset-rounding-seconds(left/max(kept*limit, math.Sqrt(limit))*60))
}

// see looks for others, and sets the pace where there are any.
func (h *share) see(now time.Duration, v view) {
	if v.low > h.high { // the window has given something back
		h.low, h.high, h.done = v.low, v.high, v.done
	}
	if v.low > h.low {
		h.low, h.done = v.low, v.done
	}
	if v.over >= h.done { // it was sent later
		h.high = min(h.high, v.high)
	}
	used, others := v.limit-v.left, h.low > h.high
	h.before = used-v.ours >= 1
	if others || h.before && v.left < 0.4*v.limit {
		if now >= h.until {
			h.part, h.grown, h.credit, h.at = 1, now+v.rest, max(0, v.left-v.limit/2), now
			if !others {
				h.credit = 1
			}
		}
		if others && now < h.grown && used >= v.limit/4 { // before that, who came first has an advantage
			h.part = min(h.part, v.firstPart())
		}
		h.low, h.until = h.high, now+remembered
	}
	if now >= h.until {
		return
	}
	h.earn(now)
	rest := min(max(v.rest.Minutes(), 1./60), 1)
	ahead := v.left/v.limit - rest + 0.03 - 0.08*h.part
	if v.left < 0.4+v.limit/60 {
		ahead = min(ahead, -0.7)
	}
	h.grow(now, ahead, v.limit)
	h.pace = min(h.part*max(0, v.open-1.5)/rest/60, h.base)
	h.reset, h.most = now+v.rest+rounding, max(1, h.part*v.left/4)
}

// firstPart is what others leave at their rate in this window, or our part of what was used, up to one half.
func (v view) firstPart() float64 {
	used, elapsed := v.limit-v.left, max(1-v.rest.Minutes(), 0.05)
	return max(min(v.ours/max(used, 1), 0.33), 1./16, 1-max(0, used-v.ours)/v.limit/elapsed)
}

// grow changes the part for the time since it was last changed. In the window in which others were first seen, it only shrinks to the first part:
// we may have used most of it before.
func (h *share) grow(now time.Duration, ahead, limit float64) {
	if minutes := min((now - h.grown).Minutes(), 1); minutes > 0 {
		h.grown = now
		h.part *= max(0.3, 1+minutes*ahead)
	}
	h.part = min(max(h.part, 1/limit), 1)
	h.base = h.part * limit / 60
}

// refused halves our part, and lets refused processes come back at different times: later is how many times [comeback]. Without figures, only
// refusals tell of others.
func (h *share) refused(now, held time.Duration, later, limit float64, silent bool) {
	switch {
	case now < h.until:
		h.part /= 2
	case silent:
		h.part, h.grown = 0.5, now
	default:
		return
	}
	if silent {
		h.until = now + remembered
	}
	h.at = held
	h.grow(now, 0, limit)
	h.credit = 1 - later*comeback.Seconds()*h.base
}

// earn adds what the pace has earned.
func (h *share) earn(now time.Duration) {
	if now <= h.at {
		return
	}
	reset := min(max(h.reset, h.at), now)
	h.credit += h.pace*(reset-h.at).Seconds() + h.base*(now-reset).Seconds()
	h.credit, h.at = min(h.credit, max(1, h.most)), now
}

// due is when the pace has earned a request with so many ahead of it.
func (h *share) due(now time.Duration, ahead int64) time.Duration {
	h.earn(now)
	from, need := max(now, h.at), 1+float64(ahead)-h.credit
	if need <= 0 {
		return from
	}
	earned := h.pace * max(0, h.reset-from).Seconds()
	if need <= earned {
		return from + seconds(need/h.pace)
	}
	return max(from, h.reset) + seconds((need-earned)/h.base)
}

func seconds(f float64) time.Duration { return time.Duration(min(f, 1e6) * float64(time.Second)) }
