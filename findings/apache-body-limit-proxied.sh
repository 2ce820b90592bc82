#!/usr/bin/env bash
# Apache httpd 2.4.71 (Debian 12): LimitRequestBody in a server that passes everything on with ProxyPass.
#
# One would guess: a longer body is refused with 413, as for a file of the server's own.
# What happens: the limit is not for requests that are passed on. The whole body reaches the server behind:
#   to a file: status 413
#   passed on: status 200, and the server behind got 100000 bytes
set -euo pipefail
dir=$(mktemp -d)
trap 'kill $(jobs -p) 2>/dev/null || true; wait; rm -rf "$dir"' EXIT
chmod 755 "$dir"
cd "$dir"

version=2.4.71-1~deb12u1
needed=$(apt-get -s install --no-install-recommends "apache2-bin=$version" 2>/dev/null | awk '/^Inst/ && $2 != "apache2-bin" { print $2 }')
apt-get -qq download "apache2-bin=$version" $needed >apt.log 2>&1
for package in *.deb; do dpkg -x "$package" .; done
export LD_LIBRARY_PATH=$dir/usr/lib/x86_64-linux-gnu:$dir/usr/lib
./usr/sbin/apache2 -v | sed -n 1p

cat >origin.go <<'END'
package main

import (
	"fmt"
	"io"
	"net/http"
)

func main() {
	panic(http.ListenAndServe("127.0.0.1:18211", http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		n, _ := io.Copy(io.Discard, r.Body)
		fmt.Fprintf(w, "and the server behind got %d bytes\n", n)
	})))
}
END
go build -o origin origin.go
./origin &
mkdir files
echo hello >files/index
cat >conf <<END
ServerName localhost
Listen 127.0.0.1:18212
PidFile $dir/pid
ErrorLog $dir/error.log
Mutex file:$dir
DocumentRoot $dir/files
User nobody
Group nogroup
LoadModule mpm_event_module $dir/usr/lib/apache2/modules/mod_mpm_event.so
LoadModule authz_core_module $dir/usr/lib/apache2/modules/mod_authz_core.so
LoadModule proxy_module $dir/usr/lib/apache2/modules/mod_proxy.so
LoadModule proxy_http_module $dir/usr/lib/apache2/modules/mod_proxy_http.so
LimitRequestBody 65536
ProxyPass /api http://127.0.0.1:18211/api
END
./usr/sbin/apache2 -D FOREGROUND -d "$dir" -f "$dir/conf" &

head -c 100000 /dev/zero >long
curl -s -o /dev/null --retry 20 --retry-connrefused --retry-delay 1 http://127.0.0.1:18212/index
curl -s -o /dev/null --retry 20 --retry-connrefused --retry-delay 1 http://127.0.0.1:18211/
file=$(curl -s -o /dev/null -w '%{http_code}' --data-binary @long http://127.0.0.1:18212/index)
echo "to a file: status $file"
passed=$(curl -s -o said -w '%{http_code}' --data-binary @long http://127.0.0.1:18212/api)
echo "passed on: status $passed, $(cat said)"
[ "$file" = 413 ] && [ "$passed" = 200 ] && grep -q 'got 100000 bytes' said
