package jsonscan

import (
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"

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

// BenchmarkRows reads rows. contrib/benchmarks has more kinds of them.
func BenchmarkRows(b *testing.B) {
	data := rows(1000)
	b.Run("ours", func(b *testing.B) {
		b.SetBytes(int64(len(data)))
		b.ReportAllocs()
		for b.Loop() {
			var all []Exact[plainRow]
			require.NoError(b, DecodeRecord(data, 0, &all))
		}
	})
	b.Run("json", func(b *testing.B) {
		b.SetBytes(int64(len(data)))
		b.ReportAllocs()
		for b.Loop() {
			var all []plainRow
			require.NoError(b, json.Unmarshal(data, &all))
		}
	})
}
