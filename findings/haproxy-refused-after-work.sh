#!/usr/bin/env bash
# HAProxy 2.6.12 (Debian 12) with its defaults, HTTP/2 in front, and a server whose kept connection ends during a POST.
#
# One would guess: 502, as HAProxy responds where the first request of a connection ends like that, and one POST at the server.
# What happens: HAProxy resets the stream with REFUSED_STREAM, which in HTTP/2 promises that nothing was processed, though the server has read
# and processed the request. So a client may send it again, and Go's net/http does, where the body can be read again:
#   without GetBody: ... stream error: stream ID 5; REFUSED_STREAM; received from peer...: the server worked 1 times
#   http.Post: 200 OK: the server worked 2 times
set -euo pipefail
dir=$(mktemp -d)
trap 'kill $(jobs -p) 2>/dev/null || true; wait; rm -rf "$dir"' EXIT
chmod 755 "$dir"
cd "$dir"

version=2.6.12-1+deb12u4
needed=$(apt-get -s install --no-install-recommends "haproxy=$version" 2>/dev/null | awk '/^Inst/ && $2 != "haproxy" { print $2 }')
apt-get -qq download "haproxy=$version" $needed >apt.log 2>&1
for package in *.deb; do dpkg -x "$package" .; done
export LD_LIBRARY_PATH=$dir/usr/lib/x86_64-linux-gnu:$dir/usr/lib
./usr/sbin/haproxy -v | sed -n 1p
go version

cat >conf <<'END'
global
	maxconn 256
defaults
	mode http
	timeout connect 1s
	timeout client 10s
	timeout server 10s
frontend front
	bind 127.0.0.1:18252 proto h2
	default_backend origin
backend origin
	server a 127.0.0.1:18251
END
./usr/sbin/haproxy -db -f conf >haproxy.log 2>&1 &

cat >main.go <<'END'
package main

import (
	"fmt"
	"io"
	"net/http"
	"os"
	"strings"
	"sync/atomic"
	"time"
)

func main() {
	var worked atomic.Int64
	var lose atomic.Bool
	go http.ListenAndServe("127.0.0.1:18251", http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.Method != http.MethodPost {
			return
		}
		io.Copy(io.Discard, r.Body)
		worked.Add(1)
		if lose.Swap(false) {
			panic(http.ErrAbortHandler) // after the work, as a server that dies
		}
	}))
	transport := &http.Transport{Protocols: new(http.Protocols)}
	transport.Protocols.SetUnencryptedHTTP2(true)
	client := &http.Client{Transport: transport}
	for range 100 {
		if resp, err := client.Get("http://127.0.0.1:18252/"); err == nil && resp.StatusCode == 200 {
			resp.Body.Close()
			break
		}
		time.Sleep(100 * time.Millisecond)
	}
	post := func(again bool) int64 {
		resp, err := client.Get("http://127.0.0.1:18252/") // so that HAProxy keeps a connection to the server
		if err == nil {
			resp.Body.Close()
		}
		worked.Store(0)
		lose.Store(true)
		req, _ := http.NewRequest(http.MethodPost, "http://127.0.0.1:18252/", strings.NewReader("hello"))
		name := "http.Post"
		if !again {
			name, req.GetBody = "without GetBody", nil
		}
		resp, err = client.Do(req)
		said := fmt.Sprint(err)
		if err == nil {
			said = resp.Status
			resp.Body.Close()
		}
		fmt.Printf("%s: %s: the server worked %d times\n", name, said, worked.Load())
		return worked.Load()
	}
	if post(false) != 1 || post(true) != 2 {
		os.Exit(1)
	}
}
END
go build -o main main.go
./main | tee said
grep -q 'REFUSED_STREAM' said
