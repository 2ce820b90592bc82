package main

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/textproto"
	"net/url"
	"strconv"

	"example.com/prospectkit/internal/jsonscan"
)

// The floors show what nobody can go below: they read the same responses and decode nothing.
func floors() []contender {
	floor := func(name, does string, use func([]byte) error) contender {
		return contender{name: name, does: does, floor: true, open: func(base string, h *http.Client) (session, error) {
			if h == nil {
				h = &http.Client{}
			}
			return &reader{base: base, http: h, use: use}, nil
		}}
	}
	return []contender{
		{name: "raw TCP", floor: true, open: openTCP, does: "The request written to a socket as bytes, the response read into nothing; no HTTP client."},
		floor("body to nowhere", "net/http, the body read and dropped.", nil),
		floor("json.Valid", "The body read into one buffer and checked by encoding/json.", valid),
		floor("own scan", "The body read into one buffer and checked by the scanner that prospectkit decodes with.", jsonscan.Valid),
	}
}

func valid(body []byte) error {
	if !json.Valid(body) {
		return errors.New("no JSON")
	}
	return nil
}

// paths lists the GET requests of a work that is read without decoding.
func paths(k kind, n int, yield func(path string) error) error {
	if k == readUser {
		return times(n, func() error { return yield("/business/me") })
	}
	if k == readMissing {
		return times(n, func() error { return yield("/business/lists/" + listID) })
	}
	path := rowsPath
	if k == readLists {
		path = "/business/lists"
	}
	query := pageQuery{Limit: rowsPerPage}
	return times(n, func() error {
		query.PageNum++
		return yield(query.appendTo(path))
	})
}

// reader reads by net/http.
type reader struct {
	base   string
	http   *http.Client
	use    func([]byte) error
	buffer []byte
}

func (r *reader) do(ctx context.Context, k kind, n int, s *sum) error {
	return paths(k, n, func(path string) error {
		req, err := http.NewRequestWithContext(ctx, http.MethodGet, r.base+path, http.NoBody)
		if err != nil {
			return err
		}
		req.SetBasicAuth(token, "")
		res, err := r.http.Do(req)
		if err != nil {
			return err
		}
		defer res.Body.Close()
		s.n++
		if r.use == nil {
			_, err := io.Copy(io.Discard, res.Body)
			return err
		}
		if int64(cap(r.buffer)) < res.ContentLength {
			r.buffer = make([]byte, res.ContentLength)
		}
		body := r.buffer[:res.ContentLength]
		if _, err := io.ReadFull(res.Body, body); err != nil {
			return err
		}
		return r.use(body)
	})
}

// tcp reads from a socket.
type tcp struct {
	conn net.Conn
	in   *bufio.Reader
	path string // of the base URL
}

func openTCP(base string, _ *http.Client) (session, error) {
	u, err := url.Parse(base)
	if err != nil {
		return nil, err
	}
	conn, err := net.Dial("tcp", u.Host) //nolint:noctx // of a benchmark
	if err != nil {
		return nil, err
	}
	return &tcp{conn, bufio.NewReaderSize(conn, 64<<10), u.Path}, nil
}

func (c *tcp) do(_ context.Context, k kind, n int, s *sum) error {
	return paths(k, n, func(path string) error {
		s.n++
		if _, err := fmt.Fprintf(c.conn, "GET %s%s HTTP/1.1\r\nHost: localhost\r\n\r\n", c.path, path); err != nil {
			return err
		}
		length := 0
		for {
			line, err := c.in.ReadSlice('\n')
			if err != nil {
				return err
			}
			text := textproto.TrimBytes(line)
			if len(text) == 0 {
				break
			}
			if value, ok := cutLength(text); ok {
				if length, err = strconv.Atoi(value); err != nil {
					return err
				}
			}
		}
		_, err := c.in.Discard(length)
		return err
	})
}

func cutLength(line []byte) (string, bool) {
	const name = "Content-Length: "
	if len(line) <= len(name) || string(line[:len(name)]) != name {
		return "", false
	}
	return string(line[len(name):]), true
}
