package budget

import "time"

const slots = 64

// count has the requests of ours that were complete within its length, such as that of a window. The service counted each before that, so
// that none leaves the count too early. One without a response enters at the instant by which it was counted. A slot leaves the count with its
// youngest request.
type count struct {
	length     time.Duration
	head, used int
	at         [slots]time.Duration // the youngest of each slot
	opened     time.Duration        // when the youngest slot was
	n          [slots]int64
	sum        int64
	gone       int64 // that have left
}

func (c *count) add(now time.Duration, n int64) {
	c.sum += n
	if c.used == 0 || c.used < slots && now-c.opened >= c.length/(slots-2) {
		c.used++
		c.opened, c.at[c.slot(c.used-1)], c.n[c.slot(c.used-1)] = now, 0, 0
	}
	youngest := c.slot(c.used - 1)
	c.at[youngest], c.n[youngest] = max(c.at[youngest], now), c.n[youngest]+n
}

func (c *count) slot(i int) int { return (c.head + i) % slots }

func (c *count) expire(now time.Duration) {
	for c.used > 0 && c.at[c.head]+c.length <= now {
		c.sum, c.gone = c.sum-c.n[c.head], c.gone+c.n[c.head]
		c.head, c.used = c.slot(1), c.used-1
	}
}

// without is when the count will have lost n, of which it may not have so many yet.
func (c *count) without(now time.Duration, n int64) time.Duration {
	for i := range c.used {
		if n -= c.n[c.slot(i)]; n <= 0 {
			return c.at[c.slot(i)] + c.length
		}
	}
	return now + c.length
}
