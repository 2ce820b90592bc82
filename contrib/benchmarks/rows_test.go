package benchmarks

import "time"

// The structs that somebody would write for the rows of a list. Each is a row of its own, so that no decoder can be tuned to the
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

type numbersRow struct {
	ID       string    `json:"id"`
	Visits   int64     `json:"visits"`
	Priority int       `json:"priority"`
	Rating   float64   `json:"rating"`
	Quarters []int     `json:"quarters"`
	Account  uint64    `json:"accountNumber"`
	ICPMatch bool      `json:"icpMatch"`
	Created  time.Time `json:"createdAt"`
	Scores   struct {
		Fit    float64 `json:"fit"`
		Intent float64 `json:"intent"`
		Recent float64 `json:"recent"`
	} `json:"scores"`
	Company struct {
		Headcount int     `json:"headcount"`
		Revenue   float64 `json:"revenue"`
	} `json:"company"`
}

type notesRow struct {
	ID    string    `json:"id"`
	Name  string    `json:"name"`
	Notes string    `json:"notes"`
	Reply string    `json:"reply"`
	At    time.Time `json:"at"`
}

type wideRow struct {
	ID    string  `json:"id"`
	Email string  `json:"email"`
	Phone *string `json:"phone"`
	Owner string  `json:"owner"`
	Until string  `json:"updatedAt"`
}
