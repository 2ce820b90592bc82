#!/usr/bin/env bash
# Caddy 2.6.2 (Debian 12): request_body max_size in front of reverse_proxy, and a body that is longer.
#
# One would guess: 413, and nothing of the request reaches the server behind.
# What happens: with a Content-Length that says so at once, too, the body is passed on up to the limit, and the response is 502:
#   the server behind began to read a request of 100000 bytes, and got 65536 of them
#   status 502
# So a client cannot tell a refusal of its body from a server that failed over it.
set -euo pipefail
dir=$(mktemp -d)
trap 'kill $(jobs -p) 2>/dev/null || true; wait; rm -rf "$dir"' EXIT
chmod 755 "$dir"
cd "$dir"

apt-get -qq download caddy=2.6.2-5 >apt.log 2>&1
dpkg -x caddy_*.deb .
./usr/bin/caddy version

cat >origin.go <<'END'
package main

import (
	"fmt"
	"io"
	"net/http"
)

func main() {
	panic(http.ListenAndServe("127.0.0.1:18201", http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		n, _ := io.Copy(io.Discard, r.Body)
		fmt.Println("the server behind began to read a request of", r.ContentLength, "bytes, and got", n, "of them")
	})))
}
END
go build -o origin origin.go
./origin >origin.log &
cat >Caddyfile <<'END'
{
	admin off
	auto_https off
}
http://127.0.0.1:18202 {
	request_body {
		max_size 65536
	}
	reverse_proxy 127.0.0.1:18201
}
END
HOME=$dir ./usr/bin/caddy run --adapter caddyfile --config Caddyfile 2>caddy.log &

head -c 1000 /dev/zero >short
head -c 100000 /dev/zero >long
send() { curl -s -o /dev/null -w '%{http_code}' --retry 20 --retry-connrefused --retry-delay 1 -H 'Content-Type: text/plain' --data-binary @"$1" http://127.0.0.1:18202/; }
[ "$(send short)" = 200 ]
: >origin.log
status=$(send long)
sleep 1
tail -n 1 origin.log
echo "status $status"
[ "$status" = 502 ] && grep -q 'got 65536 of them' origin.log
