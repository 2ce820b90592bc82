#!/usr/bin/env bash
# Varnish 7.1.1 (Debian 12) with its defaults, and a URL of 40,000 bytes.
#
# One would guess: 414 or 431, or 400.
# What happens: the connection is closed without any response, so that a client takes it for trouble on the network, and tries again:
#   20000 bytes: status 200
#   40000 bytes: status 000, curl's exit code 56 (or 52): nothing was received
set -euo pipefail
dir=$(mktemp -d)
trap 'kill $(jobs -p) 2>/dev/null || true; wait; rm -rf "$dir"' EXIT
chmod 755 "$dir"
cd "$dir"

version=7.1.1-2+deb12u1
needed=$(apt-get -s install --no-install-recommends "varnish=$version" 2>/dev/null | awk '/^Inst/ && $2 != "varnish" { print $2 }')
apt-get -qq download "varnish=$version" $needed >apt.log 2>&1
for package in *.deb; do dpkg -x "$package" .; done
export LD_LIBRARY_PATH=$dir/usr/lib/x86_64-linux-gnu:$dir/usr/lib/x86_64-linux-gnu/varnish
./usr/sbin/varnishd -V 2>&1 | sed -n 1p

cat >origin.go <<'END'
package main

import "net/http"

func main() {
	panic((&http.Server{Addr: "127.0.0.1:18231", MaxHeaderBytes: 1 << 20, Handler: http.HandlerFunc(func(http.ResponseWriter, *http.Request) {})}).ListenAndServe())
}
END
go build -o origin origin.go
./origin &
mkdir state
./usr/sbin/varnishd -j none -F -n "$dir/state" -a 127.0.0.1:18232 -b 127.0.0.1:18231 >varnish.log 2>&1 &
curl -s -o /dev/null --retry 30 --retry-connrefused --retry-delay 1 http://127.0.0.1:18232/

ask() {
	local code=0
	status=$(curl -s -o /dev/null -w '%{http_code}' "http://127.0.0.1:18232/?q=$(printf "%$1s" | tr ' ' a)") || code=$?
	echo "$1 bytes: status $status, curl's exit code $code"
}
ask 20000
[ "$status" = 200 ]
ask 40000
[ "$status" = 000 ]
