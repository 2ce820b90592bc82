package main

import (
	"context"
	"encoding/json"
	"reflect"
	"time"
)

// A rowType is a struct that somebody would write for the rows of richPath. Each is a work of its own, so that no decoder can be
// tuned to the one struct of a benchmark.
type rowType interface {
	about() (letter, title string)
	peer(ctx context.Context, c *sdk, s *sum) error
}

// rows are the rows of one type. Its way through prospectkit stands in ours.go.
type rows[T any] struct {
	letter, title string
	add           func(*sum, *T) // a few of the values
}

func (r rows[T]) about() (letter, title string) { return r.letter, r.title }

func (r rows[T]) peer(ctx context.Context, c *sdk, s *sum) error {
	return pages(ctx, c, richPath, func(row *T) { r.sum(s, row) })
}

// sum takes a few values of a row while time is measured, and all of them before that.
func (r rows[T]) sum(s *sum, row *T) {
	s.n++
	if s.all {
		v := reflect.ValueOf(row).Elem()
		s.value += digest(v)
		s.needs += needs(v)
		return
	}
	r.add(s, row)
}

// rowTypes are the kinds from readRows on.
func rowTypes() []rowType {
	return []rowType{
		rows[flatRow]{"A", "flat: strings, numbers and booleans", (*sum).flat},
		rows[nestedRow]{"B", "objects inside, and slices", (*sum).nested},
		rows[anyColumnsRow]{"C", "columns as map[string]any", (*sum).anyColumns},
		rows[rawColumnsRow]{"D", "columns as map[string]json.RawMessage", (*sum).rawColumns},
		rows[pointersRow]{"E", "pointers and times", (*sum).pointers},
		rows[fewRow]{"F", "3 fields of 30", (*sum).few},
		rows[eventsRow]{"G", "slices of structs with any", (*sum).events},
		rows[namedRow]{"H", "embedded structs, named types, small numbers, arrays, json.Number", (*sum).named},
		rows[mapsRow]{"I", "map[string]string and map[string]float64", (*sum).maps},
		rows[map[string]any]{"J", "the whole row as map[string]any", (*sum).whole},
	}
}

type flatRow struct {
	ID           string  `json:"id"`
	FirstName    string  `json:"firstName"`
	LastName     string  `json:"lastName"`
	JobTitle     string  `json:"jobTitle"`
	Email        string  `json:"email"`
	EmailStatus  string  `json:"emailStatus"`
	Phone        string  `json:"phone"`
	Level        string  `json:"level"`
	Owner        string  `json:"owner"`
	Timezone     string  `json:"timezone"`
	Language     string  `json:"language"`
	Visits       int     `json:"visits"`
	Priority     int     `json:"priority"`
	Rating       float64 `json:"rating"`
	ICPMatch     bool    `json:"icpMatch"`
	DoNotContact bool    `json:"doNotContact"`
	CreatedAt    string  `json:"createdAt"`
	UpdatedAt    string  `json:"updatedAt"`
}

func (s *sum) flat(r *flatRow) {
	s.text(r.ID, r.JobTitle, r.Phone, r.UpdatedAt)
	s.number(int64(r.Visits))
	s.flag(r.ICPMatch)
}

type nestedRow struct {
	ID        string   `json:"id"`
	FirstName string   `json:"firstName"`
	LastName  string   `json:"lastName"`
	Email     string   `json:"email"`
	Tags      []string `json:"tags"`
	Address   struct {
		Street     string    `json:"street"`
		City       string    `json:"city"`
		PostalCode string    `json:"postalCode"`
		Country    string    `json:"country"`
		Position   []float64 `json:"position"`
	} `json:"address"`
	Company struct {
		Name      string  `json:"name"`
		Domain    string  `json:"domain"`
		Industry  string  `json:"industry"`
		Headcount int     `json:"headcount"`
		Revenue   float64 `json:"revenue"`
	} `json:"company"`
	Events []struct {
		Type string `json:"type"`
		At   string `json:"at"`
	} `json:"events"`
}

func (s *sum) nested(r *nestedRow) {
	s.text(r.ID, r.Address.City, r.Company.Industry)
	s.text(r.Tags...)
	s.number(int64(len(r.Events)))
}

type anyColumnsRow struct {
	ID        string         `json:"id"`
	FirstName string         `json:"firstName"`
	LastName  string         `json:"lastName"`
	Email     string         `json:"email"`
	JobTitle  string         `json:"jobTitle"`
	CreatedAt time.Time      `json:"createdAt"`
	Columns   map[string]any `json:"customColumns"`
}

func (s *sum) anyColumns(r *anyColumnsRow) {
	s.text(r.ID, r.Email)
	s.number(int64(len(r.Columns)))
}

type rawColumnsRow struct {
	ID        string                     `json:"id"`
	FirstName string                     `json:"firstName"`
	LastName  string                     `json:"lastName"`
	Email     string                     `json:"email"`
	JobTitle  string                     `json:"jobTitle"`
	CreatedAt string                     `json:"createdAt"`
	Columns   map[string]json.RawMessage `json:"customColumns"`
}

func (s *sum) rawColumns(r *rawColumnsRow) {
	s.text(r.ID, r.Email)
	s.number(int64(len(r.Columns)))
}

type pointersRow struct {
	ID              *string    `json:"id"`
	FirstName       *string    `json:"firstName"`
	LastName        *string    `json:"lastName"`
	Email           *string    `json:"email"`
	Phone           *string    `json:"phone"`
	Visits          *int       `json:"visits"`
	Rating          *float64   `json:"rating"`
	ICPMatch        *bool      `json:"icpMatch"`
	CreatedAt       time.Time  `json:"createdAt"`
	UpdatedAt       time.Time  `json:"updatedAt"`
	LastContactedAt *time.Time `json:"lastContactedAt"`
	Address         *struct {
		City    *string `json:"city"`
		Country *string `json:"country"`
	} `json:"address"`
}

func (s *sum) pointers(r *pointersRow) {
	s.text(*r.ID, *r.Address.City)
	s.flag(r.Phone != nil)
	s.number(r.UpdatedAt.UnixMilli())
}

type fewRow struct {
	ID    string `json:"id"`
	Email string `json:"email"`
	Owner string `json:"owner"`
}

func (s *sum) few(r *fewRow) { s.text(r.ID, r.Email, r.Owner) }

type eventsRow struct {
	ID     string   `json:"id"`
	Email  string   `json:"email"`
	Tags   []string `json:"tags"`
	Events []struct {
		Type string    `json:"type"`
		At   time.Time `json:"at"`
		Data any       `json:"data"`
	} `json:"events"`
}

func (s *sum) events(r *eventsRow) {
	s.text(r.ID)
	s.text(r.Tags...)
	for i := range r.Events {
		s.text(r.Events[i].Type)
		s.flag(r.Events[i].Data != nil)
	}
}

type (
	level  string
	visits int64
	person struct {
		ID        string `json:"id"`
		FirstName string `json:"firstName"`
		LastName  string `json:"lastName"`
		Level     level  `json:"level"`
	}
	history struct {
		CreatedAt string `json:"createdAt"`
		UpdatedAt string `json:"updatedAt"`
	}
)

type namedRow struct {
	person
	history

	Visits   visits      `json:"visits"`
	Priority uint16      `json:"priority"`
	Rating   float32     `json:"rating"`
	Quarters [4]int32    `json:"quarters"`
	Account  json.Number `json:"accountNumber"`
	ICPMatch bool        `json:"icpMatch"`
	Address  struct {
		Position [2]float64 `json:"position"`
	} `json:"address"`
}

func (s *sum) named(r *namedRow) {
	s.text(r.ID, string(r.Level), r.UpdatedAt, r.Account.String())
	s.number(int64(r.Visits) + int64(r.Priority) + int64(r.Quarters[3]))
}

type mapsRow struct {
	ID        string             `json:"id"`
	FirstName string             `json:"firstName"`
	LastName  string             `json:"lastName"`
	Email     string             `json:"email"`
	Labels    map[string]string  `json:"labels"`
	Scores    map[string]float64 `json:"scores"`
}

func (s *sum) maps(r *mapsRow) {
	s.text(r.ID, r.Labels["region"])
	s.number(int64(100 * r.Scores["fit"]))
}

func (s *sum) whole(r *map[string]any) {
	id, _ := (*r)["id"].(string)
	s.text(id)
	s.number(int64(len(*r)))
}
