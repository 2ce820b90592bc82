package main

import (
	"path/filepath"
	"testing"
	"time"

	"github.com/parquet-go/parquet-go"
	"github.com/stretchr/testify/require"

	"example.com/prospectkit/sandbox"
)

// viewed checks that the view shows what is exported, and that an export has instants as such.
func viewed(t *testing.T, s *store) {
	t.Helper()
	made := time.Date(2026, time.May, 4, 3, 2, 1, 250e6, time.UTC)
	sb := sandbox.New(t, sandbox.NoLimits())
	sb.Do(func(tx *sandbox.Tx) {
		tx.CreateList(sandbox.List{Name: "People", Rows: sandbox.Rows(
			sandbox.Row{
				"firstName": "Ada", "lastName": "L", "jobTitle": "Ana\"lyst", "address": sandbox.Row{"city": "Bonn", "country": "DE"},
				"company": sandbox.Row{"name": "Engines", "domain": "engines.example", "industry": "Machines"},
				"name":    "not the company's", "createdAt": made.Format("2006-01-02T15:04:05.000Z"), "updatedAt": "no instant",
			},
			sandbox.Row{"firstName": nil},
		)})
		tx.CreateList(sandbox.List{Name: "Companies", EntityType: sandbox.CompanyList, Rows: sandbox.Rows(
			sandbox.Row{"name": "Engines", "domain": "engines.example", "industry": "Machines", "company": sandbox.Row{"name": "not this one"}},
		)})
	})
	synced(t, sb, s)
	var exported, seen [][]string
	require.NoError(t, s.records(t.Context(), func(r *record) error { exported = append(exported, r.csv()); return nil }))
	rows, err := s.db.QueryContext(t.Context(), `SELECT list_id, list, kind, id, COALESCE(first_name, ''), COALESCE(last_name, ''), COALESCE(job_title, ''),
		COALESCE(city, ''), COALESCE(country, ''), COALESCE(company, ''), COALESCE(domain, ''), COALESCE(industry, ''),
		COALESCE(created_at, ''), COALESCE(updated_at, ''), body FROM living_rows ORDER BY list_id, id`)
	require.NoError(t, err)
	defer rows.Close()
	for rows.Next() {
		line := make([]string, len(csvHeader))
		to := make([]any, len(line))
		for i := range line {
			to[i] = &line[i]
		}
		require.NoError(t, rows.Scan(to...))
		if line[len(line)-2] == "no instant" {
			line[len(line)-2] = "" // the view shows the text
		}
		seen = append(seen, line)
	}
	require.NoError(t, rows.Err())
	require.Len(t, seen, 3)
	require.Equal(t, exported, seen)

	file := filepath.Join(t.TempDir(), "rows.parquet")
	_, err = s.export(t.Context(), file)
	require.NoError(t, err)
	type instants struct {
		FirstName string     `parquet:"first_name,optional"`
		CreatedAt *time.Time `parquet:"created_at,optional,timestamp"`
		UpdatedAt *time.Time `parquet:"updated_at,optional,timestamp"`
	}
	all, err := parquet.ReadFile[instants](file)
	require.NoError(t, err)
	for _, r := range all {
		require.Nil(t, r.UpdatedAt)
		if r.FirstName == "Ada" {
			require.True(t, made.Equal(*r.CreatedAt))
		} else {
			require.Nil(t, r.CreatedAt)
		}
	}
}

func TestView(t *testing.T) { viewed(t, testStore(t)) }
