package main

import (
	"bufio"
	"context"
	"encoding/csv"
	"encoding/json"
	"io"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/parquet-go/parquet-go"

	"example.com/prospectkit"
)

// record is a living row as it is exported: the documented sort fields, and the whole row.
type record struct {
	ListID    string    `parquet:"list_id,dict"`
	List      string    `parquet:"list,dict"`
	Kind      string    `parquet:"kind,dict"`
	ID        string    `parquet:"id"`
	FirstName string    `parquet:"first_name,optional"`
	LastName  string    `parquet:"last_name,optional"`
	JobTitle  string    `parquet:"job_title,optional"`
	City      string    `parquet:"city,optional,dict"`
	Country   string    `parquet:"country,optional,dict"`
	Company   string    `parquet:"company,optional"`
	Domain    string    `parquet:"domain,optional"`
	Industry  string    `parquet:"industry,optional,dict"`
	CreatedAt time.Time `parquet:"created_at,optional,timestamp"` // absent if it is no instant
	UpdatedAt time.Time `parquet:"updated_at,optional,timestamp"`
	Body      string    `parquet:"body,json"`
}

func newRecord(listID, list, kind, id, body string) (*record, error) {
	var row prospectkit.Row
	if err := json.Unmarshal([]byte(body), &row); err != nil {
		return nil, err
	}
	company := ""
	if kind == string(prospectkit.ContactList) {
		company = "company."
	}
	return &record{
		ListID: listID, List: list, Kind: kind, ID: id, Body: body,
		FirstName: row.Text("firstName"), LastName: row.Text("lastName"), JobTitle: row.Text("jobTitle"),
		City: row.Text("address.city"), Country: row.Text("address.country"),
		Company: row.Text(company + "name"), Domain: row.Text(company + "domain"), Industry: row.Text(company + "industry"),
		CreatedAt: row.Time("createdAt"), UpdatedAt: row.Time("updatedAt"),
	}, nil
}

// csvHeader names the fields as the Parquet schema does.
var csvHeader = []string{
	"list_id", "list", "kind", "id", "first_name", "last_name", "job_title", "city", "country", "company", "domain", "industry",
	"created_at", "updated_at", "body",
}

func (r *record) csv() []string {
	line := []string{
		r.ListID, r.List, r.Kind, r.ID, r.FirstName, r.LastName, r.JobTitle, r.City, r.Country, r.Company, r.Domain, r.Industry,
		stamp(r.CreatedAt), stamp(r.UpdatedAt), r.Body,
	}
	for i, text := range line {
		line[i] = cell(text)
	}
	return line
}

// cell keeps a spreadsheet from running a text as a formula: it shows the text after an apostrophe.
func cell(text string) string {
	if text != "" && strings.ContainsRune("=+-@\t\r\n＝＋－＠", []rune(text)[0]) {
		return "'" + text
	}
	return text
}

// export writes all living rows into a file: CSV or Parquet, as its name says. The file appears when it is complete.
func (s *store) export(ctx context.Context, file string) (rows int, err error) {
	if err := os.MkdirAll(filepath.Dir(file), 0o750); err != nil {
		return 0, err
	}
	partial, err := os.CreateTemp(filepath.Dir(file), ".export-*")
	if err != nil {
		return 0, err
	}
	defer os.Remove(partial.Name()) // fails once it has been renamed
	defer partial.Close()           // closed and checked below; this is for the error paths
	out := bufio.NewWriter(partial)
	write := s.writeCSV
	if strings.EqualFold(filepath.Ext(file), ".parquet") {
		write = s.writeParquet
	}
	if rows, err = write(ctx, out); err != nil {
		return rows, err
	}
	if err := out.Flush(); err != nil {
		return rows, err
	}
	if err := partial.Close(); err != nil {
		return rows, err
	}
	return rows, os.Rename(partial.Name(), file)
}

func (s *store) writeCSV(ctx context.Context, out io.Writer) (rows int, err error) {
	w := csv.NewWriter(out)
	if err := w.Write(csvHeader); err != nil {
		return 0, err
	}
	err = s.records(ctx, func(r *record) error { rows++; return w.Write(r.csv()) })
	w.Flush()
	if err == nil {
		err = w.Error()
	}
	return rows, err
}

func (s *store) writeParquet(ctx context.Context, out io.Writer) (rows int, err error) {
	w := parquet.NewGenericWriter[record](out, parquet.Compression(&parquet.Zstd))
	err = s.records(ctx, func(r *record) error {
		rows++
		_, err := w.Write([]record{*r})
		return err
	})
	if err != nil {
		return rows, err
	}
	return rows, w.Close()
}

// records hands out the living rows, one by one.
func (s *store) records(ctx context.Context, use func(*record) error) error {
	rows, err := s.db.QueryContext(ctx, `SELECT l.id, l.name, l.kind, r.id, r.body
		FROM list_rows r JOIN lists l ON l.id = r.list_id WHERE r.gone_run IS NULL ORDER BY l.id, r.id`)
	if err != nil {
		return err
	}
	defer rows.Close()
	for rows.Next() {
		var listID, list, kind, id, body string
		if err := rows.Scan(&listID, &list, &kind, &id, &body); err != nil {
			return err
		}
		r, err := newRecord(listID, list, kind, id, body)
		if err != nil {
			return err
		}
		if err := use(r); err != nil {
			return err
		}
	}
	return rows.Err()
}
