package firstcontact

// Twice makes a run ask everything a second time.
func (r *Run) Twice() {
	r.asks = append(r.asks, r.asks...)
	r.recorder.most *= 2
}
