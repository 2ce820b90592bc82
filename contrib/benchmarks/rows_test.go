package benchmarks

import (
	"encoding/json"
	"time"
)

// The structs that somebody would write for the rows of a list. Each is a work of its own, so that no decoder can be tuned to the
// one struct of a benchmark.

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

type anyColumnsRow struct {
	ID        string         `json:"id"`
	FirstName string         `json:"firstName"`
	LastName  string         `json:"lastName"`
	Email     string         `json:"email"`
	JobTitle  string         `json:"jobTitle"`
	CreatedAt time.Time      `json:"createdAt"`
	Columns   map[string]any `json:"customColumns"`
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

type fewRow struct {
	ID    string `json:"id"`
	Email string `json:"email"`
	Owner string `json:"owner"`
}

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

type mapsRow struct {
	ID        string             `json:"id"`
	FirstName string             `json:"firstName"`
	LastName  string             `json:"lastName"`
	Email     string             `json:"email"`
	Labels    map[string]string  `json:"labels"`
	Scores    map[string]float64 `json:"scores"`
}
