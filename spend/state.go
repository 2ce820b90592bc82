package spend

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"time"
)

// stateVersion is the version of the JSON form of the state.
const stateVersion = 1

// state is what a store keeps.
type state struct {
	Version  int              `json:"version"`
	Books    map[string]*book `json:"books"` // by operation
	Reserved map[string]claim `json:"reserved"`
}

// book is the settled credits of an operation.
type book struct {
	Committed int64 `json:"committed"`
	Released  int64 `json:"released"`
}

// claim is the credits that are reserved for a call.
type claim struct {
	Op      string    `json:"op"`
	Credits int64     `json:"credits"`
	Each    int64     `json:"each,omitempty"`    // of them, for each result
	Results int       `json:"results,omitempty"` // that they are for
	Since   time.Time `json:"since"`
}

var errState = errors.New("spend: the store holds no state that this version understands")

// decode reads a state, and refuses what it does not understand: to ignore it would lift the cap.
func decode(data []byte) (*state, error) {
	s := &state{Version: stateVersion}
	if len(data) > 0 {
		s.Version = 0
		d := json.NewDecoder(bytes.NewReader(data))
		d.DisallowUnknownFields()
		if err := d.Decode(s); err != nil {
			return nil, fmt.Errorf("%w: %w", errState, err)
		}
		if _, err := d.Token(); !errors.Is(err, io.EOF) {
			return nil, fmt.Errorf("%w: there is more after it", errState)
		}
	}
	if s.Version != stateVersion {
		return nil, fmt.Errorf("%w: version %d", errState, s.Version)
	}
	for op, b := range s.Books {
		if b == nil || b.Committed < 0 || b.Released < 0 {
			return nil, fmt.Errorf("%w: the book of %q", errState, op)
		}
	}
	for id, c := range s.Reserved {
		if c.Each < 0 || c.Results < 0 || times(c.Each, int64(c.Results)) > c.Credits {
			return nil, fmt.Errorf("%w: the reservation %q", errState, id)
		}
	}
	if s.Books == nil {
		s.Books = map[string]*book{}
	}
	if s.Reserved == nil {
		s.Reserved = map[string]claim{}
	}
	return s, nil
}

func (s *state) encode() ([]byte, error) { return json.Marshal(s) }

// held is what counts against the cap.
func (s *state) held() (sum int64) {
	for _, b := range s.Books {
		sum = plus(sum, b.Committed)
	}
	for _, c := range s.Reserved {
		sum = plus(sum, c.Credits)
	}
	return sum
}

// settle ends a reservation. It does nothing if that has happened.
func (s *state) settle(id string, e end) {
	c, ok := s.Reserved[id]
	if !ok {
		return
	}
	delete(s.Reserved, id)
	b := s.Books[c.Op]
	if b == nil {
		b = &book{}
		s.Books[c.Op] = b
	}
	spent := int64(0)
	if e.applied {
		spent = c.Credits
		if e.results >= 0 {
			spent = plus(c.Credits-times(c.Each, int64(c.Results)), times(c.Each, int64(e.results)))
		}
	}
	b.Committed = plus(b.Committed, spent)
	b.Released = plus(b.Released, max(0, c.Credits-spent))
}

// end is how a call ended.
type end struct {
	applied bool
	results int // that it had; negative: unknown
}
