package main

import (
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"strings"
)

const (
	richListID = "65f0c1d2e3a4b5c6d7e8f911"
	richPath   = "/business/lists/" + richListID + "/rows"
)

type object = map[string]any

type wireAddress struct {
	Street     string     `json:"street"`
	City       string     `json:"city"`
	PostalCode string     `json:"postalCode"`
	Country    string     `json:"country"`
	Position   [2]float64 `json:"position"`
}

type wireCompany struct {
	ID        string  `json:"id"`
	Name      string  `json:"name"`
	Domain    string  `json:"domain"`
	Industry  string  `json:"industry"`
	Headcount int     `json:"headcount"`
	Revenue   float64 `json:"revenue"`
}

type wireEvent struct {
	Type string `json:"type"`
	At   string `json:"at"`
	Data any    `json:"data"`
}

type wireScores struct {
	Fit    float64 `json:"fit"`
	Intent float64 `json:"intent"`
	Recent float64 `json:"recent"`
}

type wireLabels struct {
	Region string `json:"region"`
	Source string `json:"source"`
	Tier   string `json:"tier"`
}

// wireRich has 30 fields in about 1,400 bytes, of all shapes that JSON has.
type wireRich struct {
	ID              string      `json:"id"`
	FirstName       string      `json:"firstName"`
	LastName        string      `json:"lastName"`
	JobTitle        string      `json:"jobTitle"`
	Email           string      `json:"email"`
	EmailStatus     string      `json:"emailStatus"`
	Phone           any         `json:"phone"`
	Level           string      `json:"level"`
	Address         wireAddress `json:"address"`
	Company         wireCompany `json:"company"`
	Tags            []string    `json:"tags"`
	Events          []wireEvent `json:"events"`
	Scores          wireScores  `json:"scores"`
	Labels          wireLabels  `json:"labels"`
	CustomColumns   object      `json:"customColumns"`
	Owner           string      `json:"owner"`
	Source          string      `json:"source"`
	Timezone        string      `json:"timezone"`
	Language        string      `json:"language"`
	Visits          int64       `json:"visits"`
	Priority        int         `json:"priority"`
	Rating          float64     `json:"rating"`
	Quarters        [4]int      `json:"quarters"`
	AccountNumber   json.Number `json:"accountNumber"`
	ICPMatch        bool        `json:"icpMatch"`
	DoNotContact    bool        `json:"doNotContact"`
	CreatedAt       string      `json:"createdAt"`
	UpdatedAt       string      `json:"updatedAt"`
	LastContactedAt any         `json:"lastContactedAt"`
	NextTaskAt      any         `json:"nextTaskAt"`
}

func newRich(r *rand.Rand, i int) any {
	first, last := firstName(r), lastName(r)
	handle := fmt.Sprintf("%s.%d", strings.ToLower(first), 10_000+i)
	return wireRich{
		ID: noID, FirstName: first, LastName: last, JobTitle: jobTitle(r), Email: handle + "@company.example",
		EmailStatus: pick(r, "valid", "catch_all", "risky"), Phone: seldom(r, 3, fmt.Sprintf("+49 30 %07d", r.IntN(1e7))),
		Level: pick(r, "c_level", "director", "manager"),
		Address: wireAddress{
			fmt.Sprintf("%d %s", 1+r.IntN(200), pick(r, "Main Street", "Kantstraße", "Rua Augusta")), pick(r, "Berlin", "Austin", "São Paulo"),
			fmt.Sprintf("%05d", r.IntN(99999)), pick(r, "Germany", "United States", "Brazil"),
			[2]float64{decimal(r, 90, 1e5), decimal(r, 180, 1e5)},
		},
		Company: wireCompany{
			"65f0c1d2e3a4b5c6d7e8f9cc", companyName(r), "company.example", pick(r, "Logistics", "Food & Beverages", "Robotics"), 1 + r.IntN(9000), decimal(r, 1e7, 100),
		},
		Tags:   []string{"buyer", "newsletter", "trade fair", "partner"}[:r.IntN(5)],
		Events: []wireEvent{newEvent(r), newEvent(r), newEvent(r)}[:1+r.IntN(3)],
		Scores: wireScores{decimal(r, 1, 100), decimal(r, 1, 100), decimal(r, 1, 100)},
		Labels: wireLabels{pick(r, "EMEA", "Americas"), pick(r, "import", "search"), pick(r, "Gold", "Silver", "Bronze")},
		CustomColumns: object{
			"65f0c1d2e3a4b5c6d7e8f901": pick(r, "Gold", "Silver", "Bronze"), "65f0c1d2e3a4b5c6d7e8f902": r.IntN(2) == 0,
			"65f0c1d2e3a4b5c6d7e8f903": r.IntN(1e6), "65f0c1d2e3a4b5c6d7e8f904": seldom(r, 2, moment(r)),
			"65f0c1d2e3a4b5c6d7e8f905": []string{pick(r, "north", "south"), pick(r, "east", "west")},
		},
		Owner: pick(r, "robin@workspace.example", "kim@workspace.example"), Source: pick(r, "import", "search", "api"),
		Timezone: pick(r, "Europe/Berlin", "America/Chicago"), Language: pick(r, "de", "en", "pt"),
		Visits: r.Int64N(1e12), Priority: r.IntN(1000), Rating: float64(r.IntN(11)) / 2, Quarters: [4]int{r.IntN(99), r.IntN(999), -r.IntN(99), r.IntN(9999)},
		AccountNumber: json.Number(fmt.Sprintf("1%017d", r.Int64N(1e17))), ICPMatch: r.IntN(2) == 0, DoNotContact: r.IntN(5) == 0,
		CreatedAt: moment(r), UpdatedAt: moment(r), LastContactedAt: seldom(r, 2, moment(r)), NextTaskAt: seldom(r, 4, moment(r)),
	}
}

// newEvent has data of one shape of five.
func newEvent(r *rand.Rand) wireEvent {
	data := []any{
		object{"campaign": "Autumn", "step": r.IntN(9), "links": []any{"https://a.example", "https://b.example"}},
		object{"duration": decimal(r, 600, 10), "recorded": r.IntN(2) == 0},
		pick(r, "left a message", `asked for a "quote"`), decimal(r, 1000, 100), nil,
	}
	return wireEvent{pick(r, "email_opened", "call", "meeting", "link_clicked"), moment(r), data[r.IntN(len(data))]}
}

// decimal is a number below a bound, in steps of a fraction.
func decimal(r *rand.Rand, below, steps float64) float64 {
	return float64(r.IntN(int(below*steps))) / steps
}
