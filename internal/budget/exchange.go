package budget

// An Ask is the request of one process to a state that several share: its reports, and what it wants.
type Ask struct {
	Config    Config
	Returned  bool // the process worked alone until now
	Elsewhere int  // requests that it sent and completed meanwhile
	Reports   []Report
	Wanted    []Priority // one for each request, in order
}

// Report is the result of a request.
type Report struct {
	Permit      Permit
	Observation Observation
}

// Reply is the decision on an [Ask].
type Reply struct {
	Now       Instant // by the clock of the state
	Processes int     // that asked recently
	Grants    []Grant
	Denied    Delay // why not everything was granted, and until when
	State     State // a copy, to read
}

// Grant is the permission for one request.
type Grant struct {
	Permit   Permit
	Priority Priority
}

// Decide decides on an ask. It needs the state that the last call returned, or nothing, and a clock that all processes share. If that
// clock goes back, the state waits for it. If that would take more than a second, the state starts new.
func Decide(stored []byte, now Instant, processes int, a *Ask) (next []byte, r Reply) {
	s, last, ok := decodeState(stored)
	if !ok || last > now+second {
		s = NewState(a.Config)
		s.Born, s.Epoch = int64(now), int64(now) // so that permits of an earlier state are not taken for its own
	} else {
		now = max(now, last)
	}
	r = Reply{Now: now, Processes: processes}
	r.Grants, r.Denied = s.exchange(now, a)
	r.State = s
	return encodeState(&s, now), r
}

func (s *State) exchange(now Instant, a *Ask) (grants []Grant, denied Delay) {
	s.Config = a.Config
	for i := range a.Reports {
		s.report(now, &a.Reports[i].Permit, &a.Reports[i].Observation)
	}
	s.expire(now)
	if n := int64(a.Elsewhere); n > 0 {
		s.Dispatched += n
		s.count(now, n, false)
		s.Others.ours(n)
	}
	if a.Returned { // others may also have worked alone
		s.Figures.Valid, s.ProbeUntil = false, 0
	}
	for _, p := range a.Wanted {
		if denied.Until > 0 && p == Batch {
			continue // but interactive ones may pass
		}
		g := Grant{Priority: p}
		if d, granted := s.take(now, p, &g.Permit); granted {
			grants = append(grants, g)
		} else if denied = d; p != Batch {
			break
		}
	}
	return grants, denied
}
