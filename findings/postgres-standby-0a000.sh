#!/usr/bin/env bash
# PostgreSQL 15.20 (Debian 12), a hot standby.
#
# One would guess: whatever would write fails with 25006, read_only_sql_transaction, by which a client knows that it is not at the primary.
# What happens: a transaction that says at its begin that it will write, or that it is serializable, fails with 0A000, feature_not_supported:
#   UPDATE t SET a = 1: 25006
#   BEGIN READ WRITE: 0A000
#   BEGIN ISOLATION LEVEL SERIALIZABLE: 0A000
# So a driver or a pooler that looks for 25006 to try the next host misses those who are careful enough to say READ WRITE.
set -euo pipefail
dir=$(mktemp -d)
trap 'kill -INT $(jobs -p) 2>/dev/null || true; wait; rm -rf "$dir"' EXIT
cd "$dir"

packages="postgresql-15=15.20-0+deb12u1 postgresql-client-15=15.20-0+deb12u1 libpq5=15.20-0+deb12u1"
needed=$(apt-get -s install --no-install-recommends $packages 2>/dev/null | awk '/^Inst/ && $2 !~ /^(postgresql|libpq5|pgpool2|pgbouncer)/ { print $2 }')
apt-get -qq download $packages $needed >apt.log 2>&1
for package in *.deb; do dpkg -x "$package" .; done
chmod 777 .
export LD_LIBRARY_PATH=$dir/usr/lib/x86_64-linux-gnu PATH=$dir/usr/lib/postgresql/15/bin:$dir/usr/sbin:$PATH LC_ALL=C
postgres --version

launch() { # PostgreSQL refuses root
	if [ "$(id -u)" = 0 ]; then exec setpriv --reuid=65534 --regid=65534 --clear-groups "$@"; else exec "$@"; fi
}
ask() { psql -h "$dir/$1" -p 18266 -U test -At postgres "${@:2}"; }
ready() {
	for _ in {1..150}; do ask "$1" -c 'SELECT 1' >ready.log 2>&1 && return; sleep 0.2; done
	cat *.log && false
}

mkdir -m 777 primary standby
(launch initdb -D primary/data -U test -A trust >initdb.log)
launch postgres -D primary/data -k "$dir/primary" -p 18266 -c listen_addresses= 2>primary.log &
ready primary
(launch pg_basebackup -h "$dir/primary" -p 18266 -U test -D standby/data -R -c fast)
launch postgres -D standby/data -k "$dir/standby" -p 18266 -c listen_addresses= 2>standby.log &
ready standby
ask primary -q -c 'CREATE TABLE t (a int)'
for _ in {1..100}; do ask standby -c 'SELECT FROM t' >ready.log 2>&1 && break; sleep 0.1; done
code() {
	code=$(ask standby -v VERBOSITY=verbose -c "$1" 2>&1 | sed -n 's/^ERROR: *\([0-9A-Z]*\):.*/\1/p') || true
	echo "$1: $code"
	[ "$code" = "$2" ]
}
code 'UPDATE t SET a = 1' 25006
code 'BEGIN READ WRITE' 0A000
code 'BEGIN ISOLATION LEVEL SERIALIZABLE' 0A000
