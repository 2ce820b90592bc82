#!/usr/bin/env bash
# Go's net/http client (1.26) and HAProxy 2.6.12 (Debian 12), which denies a long body with 413.
#
# One would guess: as with curl, the client that is still sending gets the response with the status 413.
# What happens: HAProxy responds and closes. The client's next write fails, and net/http drops the response that has arrived:
#   curl: status 413
#   net/http: Post "http://127.0.0.1:18222/": readfrom tcp ...: write: broken pipe, 23 times of 50
# So whoever decides by the status does not know that the body was refused. Go's own server, nginx and lighttpd read on for a while first.
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
	bind 127.0.0.1:18222
	http-request deny deny_status 413 if { req.hdr_val(content-length) gt 65536 }
	http-request return status 200
END
./usr/sbin/haproxy -db -f conf >haproxy.log 2>&1 &

cat >client.go <<'END'
package main

import (
	"bytes"
	"fmt"
	"net/http"
)

func main() {
	lost := 0
	var last error
	for range 50 {
		resp, err := http.Post("http://127.0.0.1:18222/", "text/plain", bytes.NewReader(make([]byte, 8<<20)))
		if err != nil {
			lost, last = lost+1, err
			continue
		}
		resp.Body.Close()
	}
	fmt.Printf("net/http: %v, %d times of 50\n", last, lost)
}
END
go build -o client client.go
head -c 8388608 /dev/zero >long
curl -s -o /dev/null --retry 20 --retry-connrefused --retry-delay 1 http://127.0.0.1:18222/
status=$(curl -s -o /dev/null -w '%{http_code}' -H 'Expect:' --data-binary @long http://127.0.0.1:18222/ || true)
echo "curl: status $status"
./client | tee said
[ "$status" = 413 ] && grep -Eq 'broken pipe|connection reset' said
