package jsonscan

import (
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

type plainRow struct {
	ID       string  `json:"id"`
	First    string  `json:"firstName"`
	Last     string  `json:"lastName"`
	Title    string  `json:"jobTitle"`
	Company  string  `json:"companyName"`
	Industry string  `json:"companyIndustry"`
	Website  string  `json:"website"`
	People   int     `json:"numberOfEmployees"`
	Email    string  `json:"email"`
	Phone    string  `json:"phone"`
	Social   string  `json:"socialUrl"`
	City     string  `json:"city"`
	Country  string  `json:"country"`
	Score    float64 `json:"score"`
	Open     bool    `json:"openProfile"`
	Created  string  `json:"createdAt"`
	Updated  string  `json:"updatedAt"`
}

// rows have values of many lengths, in no order that a processor could foresee.
func rows(n int) []byte {
	r := rand.New(rand.NewPCG(1, 2))
	pick := func(words ...string) string { return words[r.IntN(len(words))] }
	var all []string
	for i := range n {
		handle := fmt.Sprintf("%s.%d", pick("ada", "bruno", "katarzyna", "li"), r.IntN(1e6))
		all = append(all, fmt.Sprintf(`{"id":"%024x","firstName":"%s","lastName":"%s","jobTitle":"%s","companyName":"%s","companyIndustry":"%s",`+
			`"website":"https://www.%s.example","numberOfEmployees":%[9]d,"email":"%[8]s@company.example","phone":%[10]s,`+
			`"socialUrl":"https://social.example/in/%[8]s","city":"%[11]s","country":"%[12]s","score":%.2[13]f,"openProfile":%[14]t,`+
			`"createdAt":"2026-11-21T09:30:00.123Z","updatedAt":null,"customColumns":{"65f0c0ffee65f0c0ffee65a1":"Tier %[15]d","65f0c0ffee65f0c0ffee65a2":"Met \"in\" Berlin"}}`,
			i, pick("Ada", "Bruno", "Katarzyna", "Jürgen"), pick("Lovelace", "Brown", "Ito", "Fernández-Castillo"),
			pick("Head of Analytical Engines", "VP R\\u0026D", "CTO", "Account Executive", "Data Engineer"),
			pick("Babbage \u0026 Söhne", "Acme Tooling GmbH", "Contoso", "Northwind Logistics and Sons"), pick("Robotics", "Computer Hardware Manufacturing"),
			pick("babbage", "acme-tooling", "contoso"), handle, r.IntN(9000), pick("null", "null", `"+49 3023125123"`),
			pick("Berlin", "San Francisco", "Ulm"), pick("Germany", "United States"), float64(r.IntN(1e9))/100, r.IntN(2) == 0, r.IntN(3)))
	}
	return []byte("[" + strings.Join(all, ",") + "]")
}

// BenchmarkValid checks the same bytes and does nothing with them.
func BenchmarkValid(b *testing.B) {
	data := rows(1000)
	for name, valid := range map[string]func([]byte) bool{"ours": func(b []byte) bool { return Valid(b) == nil }, "json": json.Valid} {
		b.Run(name, func(b *testing.B) {
			b.SetBytes(int64(len(data)))
			for b.Loop() {
				require.True(b, valid(data))
			}
		})
	}
}

func BenchmarkIndexer(b *testing.B) {
	data := rows(1000)
	b.SetBytes(int64(len(data)))
	b.ReportAllocs()
	for b.Loop() {
		c, x := New(data), NewRecordDecoder[indexedRow]()
		for c.Array(); c.Element(); {
			var row indexedRow
			if x.Decode(&c, &row) != nil {
				b.Fatal("no row")
			}
			if _, ok := row.index.Lookup(row.text, "email"); !ok {
				b.Fatal("no email")
			}
		}
	}
}

// Row types as different users would write them.
type (
	nestedRow struct {
		ID      string `json:"id"`
		Name    string `json:"name"`
		Address struct {
			City, Country, Street string
			Zip                   int
		} `json:"address"`
		Company struct {
			Name   string `json:"name"`
			Domain string `json:"domain"`
			Size   int    `json:"size"`
		} `json:"company"`
		Tags []string `json:"tags"`
	}
	anyColumns struct {
		ID      string         `json:"id"`
		Email   string         `json:"email"`
		Columns map[string]any `json:"customColumns"`
	}
	rawColumns struct {
		ID      string                     `json:"id"`
		Email   string                     `json:"email"`
		Columns map[string]json.RawMessage `json:"customColumns"`
	}
	pointerRow struct {
		ID        string     `json:"id"`
		FirstName *string    `json:"firstName"`
		LastName  *string    `json:"lastName"`
		Score     *float64   `json:"score"`
		Employees *int       `json:"numberOfEmployees"`
		Open      *bool      `json:"openProfile"`
		CreatedAt time.Time  `json:"createdAt"`
		UpdatedAt *time.Time `json:"updatedAt"`
	}
	fewFields struct {
		ID, Email string
		Score     float64
	}
	eventsRow struct {
		ID     string `json:"id"`
		Events []struct {
			Kind string         `json:"kind"`
			At   time.Time      `json:"at"`
			Data any            `json:"data"`
			More map[string]int `json:"more"`
		} `json:"events"`
		Scores [3]float32 `json:"scores"`
	}
)

func kindsPage(n int) []byte {
	var all []string
	for i := range n {
		all = append(all, fmt.Sprintf(`{"id":"%024x","name":"Ada Lovelace %[1]d","firstName":"Ada","lastName":"Lovelace","email":"ada.%[1]d@engines.example","jobTitle":"Head of Analytical Engines",`+
			`"address":{"city":"Berlin","country":"Germany","street":"Unter den Linden %[1]d","zip":%[2]d},"company":{"name":"Babbage & Söhne","domain":"babbage.example","size":%[2]d,"revenue":1200000},`+
			`"tags":["engines","notes","%[1]d"],"score":%[3]f,"numberOfEmployees":%[2]d,"openProfile":true,"createdAt":"2026-11-21T09:30:00.123Z","updatedAt":null,"phone":null,"website":"https://babbage.example",`+
			`"customColumns":{"65f0c0ffee65f0c0ffee65a1":"Tier %[2]d","65f0c0ffee65f0c0ffee65a2":true,"65f0c0ffee65f0c0ffee65a3":%[2]d.5,"65f0c0ffee65f0c0ffee65a4":null},`+
			`"events":[{"kind":"opened","at":"2026-11-20T08:00:00.000Z","data":{"step":1,"link":"https://x.example/a"},"more":{"a":1}},{"kind":"replied","at":"2026-11-21T08:00:00.000Z","data":"thanks","more":{"a":2,"b":3}}],`+
			`"scores":[0.5,0.25,%[2]d],"industry":"Robotics","socialUrl":"https://social.example/in/ada.%[1]d"}`, i, i%9000, float64(i)*1.37))
	}
	return []byte("[" + strings.Join(all, ",") + "]")
}

func benchKind[T any](b *testing.B, data []byte) {
	b.Helper()
	var zero T
	b.Run(fmt.Sprintf("%T/ours", zero), func(b *testing.B) {
		b.ReportAllocs()
		for b.Loop() {
			c, d, n := New(data), NewDecoder[T](), 0
			for c.Array(); c.Element(); n++ {
				var row T
				if err := d.Decode(&c, &row); err != nil {
					b.Fatal(err)
				}
			}
			d.Release()
			require.Equal(b, 1000, n)
		}
	})
	b.Run(fmt.Sprintf("%T/json", zero), func(b *testing.B) {
		b.ReportAllocs()
		for b.Loop() {
			var all []T
			require.NoError(b, json.Unmarshal(data, &all))
		}
	})
}

func BenchmarkKinds(b *testing.B) {
	data := kindsPage(1000)
	benchKind[plainRow](b, data)
	benchKind[nestedRow](b, data)
	benchKind[anyColumns](b, data)
	benchKind[rawColumns](b, data)
	benchKind[pointerRow](b, data)
	benchKind[fewFields](b, data)
	benchKind[eventsRow](b, data)
	benchKind[map[string]any](b, data)
}
