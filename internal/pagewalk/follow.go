package pagewalk

import "fmt"

// stale counts the pages that bring nothing new since the last that did.
type stale struct{ empty, same int }

const (
	mostStale = 2  // pages in a row
	mostEmpty = 10 // where pages lead to each other
)

func (s *stale) note(size int, brings bool) {
	switch {
	case brings:
		*s = stale{}
	case size == 0:
		s.empty++
	default:
		s.same++
	}
}

func (s *stale) all() int { return s.empty + s.same }

// Follow yields pages that lead to each other, and may be paid for: nothing is left out of them, and no total counts. An error is the last.
func Follow(p *Progress, read func(before *Page) (*Page, error), fail func(what string) error, yield func(*Page, error) bool) {
	var seen Recent
	var old stale
	page, err := read(nil)
	report := p.report
	for ; err == nil; page, err = read(page) {
		report.Requests++
		brings := false
		for _, r := range page.Records {
			brings = seen.Add(r.ID) || brings
		}
		old.note(len(page.Records), brings)
		p.tell(report, nil, 0)
		if (len(page.Records) > 0 || report.Requests == 1) && !yield(page, nil) {
			return
		}
		if report.Finished = page.Last; page.Last {
			p.tell(report, nil, 0)
			return
		}
		if old.empty >= mostEmpty || old.same >= mostStale {
			err = fail(fmt.Sprintf("the last %d pages brought nothing new, and another one is offered", old.all()))
			break
		}
	}
	yield(nil, err)
}
