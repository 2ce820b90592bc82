#!/usr/bin/env bash
# Squid 5.7 (Debian 12) in front of one server (http_port accel), and URLs of 9,000 and 70,000 bytes.
#
# One would guess: 414 for what is too long.
# What happens: over 8,192 bytes the status is 400, and the page repeats the URL; 414 comes only over 64 KB:
#   8000 bytes: status 200
#   9000 bytes: status 400
#   70000 bytes: status 414
# So a client that explains a 414 to its user has to explain this 400, too.
set -euo pipefail
dir=$(mktemp -d)
trap 'kill $(jobs -p) 2>/dev/null || true; wait; rm -rf "$dir"' EXIT
chmod 777 "$dir"
cd "$dir"

version=5.7-2+deb12u6
needed=$(apt-get -s install --no-install-recommends "squid=$version" 2>/dev/null | awk '/^Inst/ && $2 != "squid" { print $2 }')
apt-get -qq download "squid=$version" squid-common squid-langpack $needed >apt.log 2>&1
for package in *.deb; do dpkg -x "$package" .; done
export LD_LIBRARY_PATH=$dir/usr/lib/x86_64-linux-gnu:$dir/usr/lib
./usr/sbin/squid -v | sed -n 1p

cat >origin.go <<'END'
package main

import "net/http"

func main() {
	panic((&http.Server{Addr: "127.0.0.1:18241", MaxHeaderBytes: 1 << 20, Handler: http.HandlerFunc(func(http.ResponseWriter, *http.Request) {})}).ListenAndServe())
}
END
go build -o origin origin.go
./origin &
cat >conf <<END
http_port 127.0.0.1:18242 accel defaultsite=127.0.0.1 no-vhost
cache_peer 127.0.0.1 parent 18241 0 no-query originserver
http_access allow all
visible_hostname gateway
pid_filename $dir/pid
cache_log $dir/cache.log
access_log none
coredump_dir $dir
pinger_enable off
shutdown_lifetime 0 seconds
mime_table $dir/usr/share/squid/mime.conf
icon_directory $dir/usr/share/squid/icons
error_directory $dir/usr/share/squid-langpack/templates
END
./usr/sbin/squid -N -f conf 2>squid.log &
curl -s -o /dev/null --retry 30 --retry-connrefused --retry-delay 1 http://127.0.0.1:18242/

ask() {
	status=$(curl -s -o page -w '%{http_code}' "http://127.0.0.1:18242/?q=$(printf "%$1s" | tr ' ' a)") || true
	echo "$1 bytes: status $status"
	[ "$status" = "$2" ]
}
ask 8000 200
ask 9000 400
ask 70000 414
