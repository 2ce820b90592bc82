package prospectkit

import (
	"encoding/json"
	"errors"
	"fmt"
	"time"
)

// Expiration says when an agent stops by itself. The zero value leaves it to the service: one month from creation.
type Expiration struct {
	year  int
	month time.Month
	day   int
	never bool
}

// NeverExpires lets an agent run until it is paused or deleted.
func NeverExpires() Expiration { return Expiration{never: true} }

// ExpiresOn lets an agent run until a calendar date, which has to be in the future. In which time zone is not shown by the service's
// document, so what is refused locally is only a date that is past everywhere on earth, and one that no calendar has.
func ExpiresOn(year int, month time.Month, day int) Expiration {
	return Expiration{year: year, month: month, day: day}
}

// IsZero reports whether nothing was said, so that the service decides.
func (e Expiration) IsZero() bool { return e == Expiration{} }

// Never reports whether there is no end.
func (e Expiration) Never() bool { return e.never }

// Date returns the calendar date; it reports false if there is none.
func (e Expiration) Date() (year int, month time.Month, day int, ok bool) {
	return e.year, e.month, e.day, !e.never && !e.IsZero()
}

// String returns the date as YYYY-MM-DD, "never", or "default".
func (e Expiration) String() string {
	switch {
	case e.never:
		return "never"
	case e.IsZero():
		return "default"
	}
	return fmt.Sprintf("%04d-%02d-%02d", e.year, int(e.month), e.day)
}

// MarshalJSON returns the date, or null for never. The zero value has to be left out, as omitzero does: null would mean that the
// agent never expires.
func (e Expiration) MarshalJSON() ([]byte, error) {
	switch {
	case e.never:
		return []byte("null"), nil
	case e.IsZero():
		return nil, errors.New("an expiration that was not set has to be left out")
	}
	return json.Marshal(e.String())
}

// UnmarshalJSON reads a date, or null for never.
func (e *Expiration) UnmarshalJSON(data []byte) error {
	if string(data) == "null" {
		*e = NeverExpires()
		return nil
	}
	var text string
	if err := json.Unmarshal(data, &text); err != nil {
		return errors.New("an expiration is a date or null")
	}
	t, err := time.Parse(time.DateOnly, text)
	if err != nil {
		return fmt.Errorf("an expiration is a date like 2027-03-01, not %q", oneLine(text))
	}
	*e = ExpiresOn(t.Date())
	return nil
}

// check refuses what is no date, and what is past even where the day begins last, at UTC-12.
func (e Expiration) check(bad *checks) {
	if _, _, _, ok := e.Date(); !ok {
		return
	}
	if year, month, day := e.midnight().Date(); year != e.year || month != e.month || day != e.day || year < 1 || year > 9999 {
		bad.add("expirationDate", "is %s, which is no date", e)
		return
	}
	today := ExpiresOn(time.Now().In(time.FixedZone("", -12*60*60)).Date())
	if e.midnight().Before(today.midnight()) {
		bad.add("expirationDate", "is %s, must be in the future", e)
	}
}

func (e Expiration) midnight() time.Time {
	return time.Date(e.year, e.month, e.day, 0, 0, 0, 0, time.UTC)
}
