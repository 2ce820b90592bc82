package budget

// An Ask is what one process says to a state that several share, and what it wants from it.
type Ask struct {
	Config    Config
	Returned  bool // the process was on its own until now
	Elsewhere int  // requests that it sent meanwhile, and that are over
	Reports   []Report
	Wanted    []Priority // one for each request, in order

	number int // for the asker
}

// Report says what became of a request.
type Report struct {
	Permit      Permit
	Observation Observation
}

// Reply is the answer to an [Ask].
type Reply struct {
	Now       Instant // by the clock of the state
	Processes int     // that asked lately
	Grants    []Grant
	Denied    Delay // why not all that was wanted was granted, and until when
	State     State // a copy, to look at
}

// Grant is the permission for one request.
type Grant struct {
	Permit   Permit
	Priority Priority
}

// Decide answers an ask. It needs the state as the last call returned it, nothing if there is none, and a clock that all processes
// share. If that clock goes back, the state waits for it, and begins afresh if that would take more than a second.
func Decide(stored []byte, now Instant, processes int, a *Ask) (next []byte, r Reply) {
	s, last, ok := decodeState(stored)
	if !ok || last > now+second {
		s = NewState(a.Config)
		s.Born, s.Epoch = int64(now), int64(now) // permits of another life are not taken for its own
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
	for _, r := range a.Reports {
		s.Report(now, r.Permit, r.Observation)
	}
	s.expire(now)
	if n := int64(a.Elsewhere); n > 0 {
		s.Dispatched += n
		s.count(now, n, false)
	}
	if a.Returned { // others may have been on their own, too
		s.Figures.Valid, s.LookUntil = false, 0
	}
	reserved := false
	for _, p := range a.Wanted {
		if reserved && p == Batch {
			continue
		}
		d := s.Take(now, p)
		if d.Granted {
			grants = append(grants, Grant{d.Permit, p})
			continue
		}
		denied = d.Delay
		if p != Batch {
			break
		}
		reserved = true // but those that are more urgent may pass
	}
	return grants, denied
}
