package firstcontact

import (
	"context"
	"net/url"
	"time"

	"example.com/prospectkit/internal/check"
	"example.com/prospectkit/internal/op"
	"example.com/prospectkit/internal/waits"
)

// Share is how many requests of a surface a run sends in any minute: a sixth of what the documentation allows, and at least 8. It
// is 0 where no limit is documented. So a further request of the plan costs time, and takes the place of no other.
func Share(s op.Surface) int {
	if limit := op.DocumentedLimits[s].PerMinute; limit > 0 {
		return max(8, limit/6)
	}
	return 0
}

// pace leaves the rest of a minute to the others of the workspace.
type pace struct {
	alone bool // a double on this machine serves nobody else
	sent  map[op.Surface][]time.Time
	tell  func(time.Duration)
}

func newPace(cfg Config) pace {
	base, err := url.Parse(cfg.BaseURL)
	return pace{err == nil && check.IsLoopback(base.Hostname()), map[op.Surface][]time.Time{}, cfg.Waits}
}

// wait returns when the run may send another request of a surface, or with the error of the context.
func (p *pace) wait(ctx context.Context, s op.Surface) error {
	share, sent := Share(s), p.sent[s]
	if share > 0 && len(sent) >= share && !p.alone {
		left := time.Until(sent[len(sent)-share].Add(time.Minute))
		if p.tell != nil && left > 0 {
			p.tell(left)
		}
		if err := waits.Sleep(ctx, max(0, left)); err != nil {
			return err
		}
	}
	p.sent[s] = append(sent, time.Now())
	return nil
}
