package jsonscan

import (
	"encoding/json"
	"fmt"
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

func rows(n int) []byte {
	all := make([]string, n)
	for i := range all {
		all[i] = fmt.Sprintf(`{"id":"%024x","firstName":"Ada","lastName":"Lovelace-%d","jobTitle":"Head of Analytical Engines","companyName":"Babbage & Söhne %d",`+
			`"companyIndustry":"Computer Hardware Manufacturing","website":"https://www.example-%d.com","numberOfEmployees":%d,"email":"ada%d@example.com",`+
			`"phone":"+49 30 1234567","socialUrl":"https://social.example.com/in/ada-%d","city":"Berlin","country":"Germany","score":0.87,"openProfile":true,`+
			`"createdAt":"2026-11-21T09:30:00.123Z","updatedAt":null,"customColumns":{"65f0c0ffee65f0c0ffee65a1":"Tier %d","65f0c0ffee65f0c0ffee65a2":"Met \"in\" Berlin"}}`,
			i, i, i, i, i*7, i, i, i%3)
	}
	return []byte("[" + strings.Join(all, ",") + "]")
}

func BenchmarkDecoder(b *testing.B) {
	data := rows(1000)
	b.Run("ours", func(b *testing.B) {
		b.SetBytes(int64(len(data)))
		b.ReportAllocs()
		for b.Loop() {
			c, d, n := New(data), NewDecoder[plainRow](), 0
			var row plainRow
			for c.Array(); c.Element(); n++ {
				if err := d.Decode(&c, &row); err != nil {
					b.Fatal(err)
				}
			}
			require.Equal(b, 1000, n)
		}
	})
	b.Run("json", func(b *testing.B) {
		b.SetBytes(int64(len(data)))
		b.ReportAllocs()
		for b.Loop() {
			var all []plainRow
			require.NoError(b, json.Unmarshal(data, &all))
			require.Len(b, all, 1000)
		}
	})
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
		c, x := New(data), NewIndexer()
		for c.Array(); c.Element(); {
			raw, index, _ := x.Read(&c)
			if _, ok := index.Lookup(raw, "email"); !ok {
				b.Fatal("no email")
			}
		}
	}
}
