// Command batch decodes rows into written types, and encodes them again.
package main

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math/big"
	"net/http"
	"os"
	"reflect"
	"strings"

	"example.com/prospectkit"
)

const listID = "65f0c0ffee65f0c0ffee65f1"

func main() {
	var input struct{ Rows, Fitting map[string][]json.RawMessage }
	if err := json.NewDecoder(os.Stdin).Decode(&input); err != nil {
		panic(err)
	}
	decoded := 0
	for name, check := range types {
		if err := check(input.Rows[name], input.Fitting[name]); err != nil {
			fmt.Printf("%s: %v\n", name, err)
		}
		decoded += len(input.Rows[name])
	}
	fmt.Printf("%d types, %d rows\n", len(types), decoded)
}

// try decodes rows in the ways that forbid a loss, into what a function makes.
func try(rows, fitting []json.RawMessage, new func() any) error {
	for _, row := range fitting {
		value := new()
		if err := json.Unmarshal(row, value); err != nil {
			return fmt.Errorf("a row that fits: %w", err)
		}
		if text, err := json.Marshal(value); err != nil || !reflect.DeepEqual(exact(parse(row)), exact(parse(text))) {
			return fmt.Errorf("a row that fits: %s became %s, %w", row, text, err)
		}
	}
	for _, row := range rows {
		value, strict := new(), new()
		d := json.NewDecoder(bytes.NewReader(row))
		d.DisallowUnknownFields()
		if err := errors.Join(d.Decode(value), same(row, value)); err != nil {
			return fmt.Errorf("encoding/json: %w", err)
		}
		var object prospectkit.Object
		if err := errors.Join(object.UnmarshalJSON(row), object.DecodeStrict(strict), same(row, strict)); err != nil {
			return fmt.Errorf("DecodeStrict: %w", err)
		}
	}
	return nil
}

// iterate reads rows with RowsOf.
func iterate[T any](rows []json.RawMessage) error {
	client, err := prospectkit.New("https://crm.example/api/v1", "key", prospectkit.WithTransport(page(rows)))
	if err != nil {
		return err
	}
	n := 0
	for value, err := range prospectkit.RowsOf[T](context.Background(), client.Lists, listID, prospectkit.RowsParams{}) {
		if err == nil {
			err = same(rows[n], *value)
		}
		if err != nil {
			return fmt.Errorf("RowsOf: %w", err)
		}
		n++
	}
	if n != len(rows) {
		return fmt.Errorf("RowsOf yields %d of %d rows", n, len(rows))
	}
	return nil
}

// same compares a row with what a value is encoded as. Numbers have to keep their digits.
func same(row []byte, value any) error {
	text, err := json.Marshal(value)
	if err != nil {
		return err
	}
	if a, b := parse(row), parse(text); !reflect.DeepEqual(a, b) {
		return fmt.Errorf("%s became %s", row, text)
	}
	return nil
}

func parse(text []byte) (v any) {
	d := json.NewDecoder(bytes.NewReader(text))
	d.UseNumber()
	if err := d.Decode(&v); err != nil {
		panic(err)
	}
	return v
}

// exact replaces numbers by what does not depend on how they are written.
func exact(v any) any {
	switch v := v.(type) {
	case json.Number:
		r, _ := new(big.Rat).SetString(string(v))
		return r.RatString()
	case []any:
		for i := range v {
			v[i] = exact(v[i])
		}
	case map[string]any:
		for key := range v {
			v[key] = exact(v[key])
		}
	}
	return v
}

// page serves rows as the only page.
type page []json.RawMessage

func (p page) RoundTrip(r *http.Request) (*http.Response, error) {
	rows, err := json.Marshal([]json.RawMessage(p))
	body := fmt.Sprintf(`{"entityType":"contactList","data":%s,"pagination":{"pageNum":1,"totalPages":1,"totalRecords":%d}}`, rows, len(p))
	return &http.Response{
		Status: "200 OK", StatusCode: http.StatusOK, Proto: "HTTP/1.1", ProtoMajor: 1, ProtoMinor: 1, Request: r,
		Header: http.Header{"Content-Type": {"application/json"}}, Body: io.NopCloser(strings.NewReader(body)),
	}, err
}
