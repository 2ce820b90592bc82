package main

import (
	"encoding/json"
	"time"
)

// The values that every contender decodes into. The names of a row's fields are those of the sandbox: the service's document
// shows none of them, so they stand for a shape, not for the service.

type user struct {
	ID    string `json:"id"`
	Email string `json:"email"`
	Name  string `json:"name"`
}

type list struct {
	ID             string    `json:"id"`
	Name           string    `json:"name"`
	Kind           string    `json:"entityType"`
	ContactsCount  int       `json:"contactsCount"`
	CompaniesCount int       `json:"companiesCount"`
	CreatedAt      time.Time `json:"createdAt"`
	FolderID       string    `json:"folderId"`
}

type profile struct {
	FirstName   string `json:"firstName"`
	LastName    string `json:"lastName"`
	JobTitle    string `json:"jobTitle"`
	CompanyName string `json:"companyName"`
	SocialURL   string `json:"socialUrl"`
}

// contact has the 20 fields that a caller knows. The rows have more.
type contact struct {
	ID                 string  `json:"id"`
	FirstName          string  `json:"firstName"`
	LastName           string  `json:"lastName"`
	JobTitle           string  `json:"jobTitle"`
	Department         string  `json:"department"`
	Level              string  `json:"level"`
	Email              string  `json:"email"`
	EnrichedEmail      string  `json:"enrichedEmail"`
	EmailValidity      string  `json:"emailValidity"`
	Phone              string  `json:"phone"` // null in two of three rows
	EnrichedPhone      string  `json:"enrichedPhone"`
	SocialURL          string  `json:"socialUrl"`
	CompanyName        string  `json:"companyName"`
	IndustryName       string  `json:"industryName"`
	Headcount          int     `json:"headcount"`
	Revenue            float64 `json:"revenue"`
	CampaignEngagement string  `json:"campaignEngagement"`
	ICPMatch           bool    `json:"icpMatch"`
	CreatedAt          string  `json:"createdAt"`
	UpdatedAt          string  `json:"updatedAt"`
}

// deepContact has fields of objects inside the row.
type deepContact struct {
	ID        string `json:"id"`
	FirstName string `json:"firstName"`
	LastName  string `json:"lastName"`
	JobTitle  string `json:"jobTitle"`
	Email     string `json:"email"`
	Address   struct {
		City    string `json:"city"`
		Country string `json:"country"`
	} `json:"address"`
	CustomColumns struct {
		Tier    string `json:"65f0c1d2e3a4b5c6d7e8f901"`
		Renewal bool   `json:"65f0c1d2e3a4b5c6d7e8f902"`
	} `json:"customColumns"`
}

// openContact keeps the fields that contact does not know, as a program with encoding/json usually does.
type openContact struct {
	contact

	extra map[string]json.RawMessage
}

func (c *openContact) UnmarshalJSON(data []byte) error {
	if err := json.Unmarshal(data, &c.contact); err != nil {
		return err
	}
	return json.Unmarshal(data, &c.extra)
}

// text reads a field of a row that was kept as a map.
func text(row map[string]json.RawMessage, key string) string {
	var s string
	if json.Unmarshal(row[key], &s) != nil {
		return ""
	}
	return s
}

// rawContact keeps the whole row as one raw value, which is the cheapest way with encoding/json.
type rawContact struct {
	contact

	raw json.RawMessage
}

func (c *rawContact) UnmarshalJSON(data []byte) error {
	c.raw = append(c.raw[:0:0], data...)
	return json.Unmarshal(data, &c.contact)
}

// unknowns reads two fields of a row that was kept raw.
func unknowns(row json.RawMessage) (timezone, language string) {
	var v struct {
		Timezone string `json:"timezone"`
		Language string `json:"language"`
	}
	if json.Unmarshal(row, &v) != nil {
		return "", ""
	}
	return v.Timezone, v.Language
}

type pagination struct {
	PageNum      int `json:"pageNum"`
	TotalPages   int `json:"totalPages"`
	TotalRecords int `json:"totalRecords"`
}

type page[T any] struct {
	EntityType string     `json:"entityType,omitempty"`
	Data       []T        `json:"data"`
	Pagination pagination `json:"pagination"`
}

type scrollPage struct {
	Profiles    []profile `json:"profiles"`
	ScrollToken string    `json:"scrollToken,omitempty"`
}

type scrollQuery struct {
	Size        int    `json:"size"`
	ScrollToken string `json:"scrollToken,omitempty"`
}

// pageQuery is the query string of a page.
type pageQuery struct {
	Limit   int `url:"limit"`
	PageNum int `url:"pageNum"`
}

// problem is the service's error, for the contenders that bring no type for it.
type problem struct {
	Status int `json:"-"`
	Err    struct {
		Code      string `json:"code"`
		Message   string `json:"message"`
		Param     string `json:"param"`
		DocURL    string `json:"doc_url"`
		RequestID string `json:"request_id"`
	} `json:"error"`
}

func (p *problem) Error() string { return p.Err.Code + ": " + p.Err.Message }

// A sum tells whether two contenders have decoded the same values, at next to no cost.
type sum struct {
	code  string // of the error that W5 is about
	n     int
	value uint64
	all   bool   // rows are summed up in all their values, and needs is counted
	needs uint64 // allocations that the values cannot do without
}

func (s *sum) text(parts ...string) {
	for _, p := range parts {
		s.value = s.value*31 + uint64(len(p))
		if p != "" {
			s.value += uint64(p[0])<<8 + uint64(p[len(p)-1])
		}
	}
}

func (s *sum) number(n int64) { s.value = s.value*31 + uint64(n) } //nolint:gosec // only mixed

func (s *sum) flag(b bool) {
	if b {
		s.value++
	}
}

func (s *sum) user(u user) {
	s.n++
	s.text(u.ID, u.Email, u.Name)
}

func (s *sum) list(l *list) {
	s.n++
	s.text(l.ID, l.Name, l.Kind, l.FolderID)
	s.number(int64(l.ContactsCount))
	s.number(int64(l.CompaniesCount))
	s.number(l.CreatedAt.UnixMilli())
}

func (s *sum) profile(p *profile) {
	s.n++
	s.text(p.FirstName, p.LastName, p.JobTitle, p.CompanyName, p.SocialURL)
}

func (s *sum) contact(c *contact) {
	s.n++
	s.text(c.ID, c.FirstName, c.LastName, c.JobTitle, c.Department, c.Level, c.Email, c.EnrichedEmail, c.EmailValidity, c.Phone)
	s.text(c.EnrichedPhone, c.SocialURL, c.CompanyName, c.IndustryName, c.CampaignEngagement, c.CreatedAt, c.UpdatedAt)
	s.number(int64(c.Headcount))
	s.number(int64(c.Revenue * 100))
	s.flag(c.ICPMatch)
}

func (s *sum) deep(c *deepContact) {
	s.n++
	s.text(c.ID, c.FirstName, c.LastName, c.JobTitle, c.Email)
	s.text(c.Address.City, c.Address.Country, c.CustomColumns.Tier)
	s.flag(c.CustomColumns.Renewal)
}
