package budget

// Decision is the result of take: a permit, or a delay.
type Decision struct {
	Granted bool
	Permit  Permit
	Delay
}

func (s *State) Take(now Instant, p Priority) (d Decision) {
	d.Delay, d.Granted = s.take(now, p, &d.Permit)
	return d
}

func (s *State) Report(now Instant, p Permit, o Observation) { s.report(now, &p, &o) }
