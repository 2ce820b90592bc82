#!/usr/bin/env bash
# PgBouncer 1.18.0 (Debian 12) with pool_mode = statement, PostgreSQL 15.20.
#
# One would guess: a transaction is refused: its manual says that transactions of several statements are disallowed in this mode.
# What happens: only one that is still open when a query ends. What comes as one query is carried out, as a transaction:
#   BEGIN, then UPDATE: FATAL:  transaction blocks not allowed in statement pooling mode
#   "BEGIN; UPDATE ...; COMMIT" as one query: BEGIN UPDATE 1 COMMIT
#   "BEGIN; UPDATE ...; ROLLBACK" as one query: BEGIN UPDATE 1 ROLLBACK, and nothing has changed
# So a client that sends its transactions at once seems to work in this mode, until the first that waits for a row before it writes.
set -euo pipefail
dir=$(mktemp -d)
trap 'kill -INT $(jobs -p) 2>/dev/null || true; wait; rm -rf "$dir"' EXIT
cd "$dir"

packages="postgresql-15=15.20-0+deb12u1 postgresql-client-15=15.20-0+deb12u1 libpq5=15.20-0+deb12u1 pgbouncer=1.18.0-1+deb12u1"
needed=$(apt-get -s install --no-install-recommends $packages 2>/dev/null | awk '/^Inst/ && $2 !~ /^(postgresql|libpq5|pgpool2|pgbouncer)/ { print $2 }')
apt-get -qq download $packages $needed >apt.log 2>&1
for package in *.deb; do dpkg -x "$package" .; done
chmod 777 .
export LD_LIBRARY_PATH=$dir/usr/lib/x86_64-linux-gnu PATH=$dir/usr/lib/postgresql/15/bin:$dir/usr/sbin:$PATH LC_ALL=C
postgres --version
pgbouncer --version | sed -n 1p

launch() { # PostgreSQL refuses root
	if [ "$(id -u)" = 0 ]; then exec setpriv --reuid=65534 --regid=65534 --clear-groups "$@"; else exec "$@"; fi
}
ask() { psql -h "$dir/$1" -p 18268 -U test -At postgres "${@:2}"; }
ready() {
	for _ in {1..150}; do ask "$1" -c 'SELECT 1' >ready.log 2>&1 && return; sleep 0.2; done
	cat *.log && false
}

mkdir -m 777 primary pooler
(launch initdb -D primary/data -U test -A trust >initdb.log)
launch postgres -D primary/data -k "$dir/primary" -p 18268 -c listen_addresses= 2>primary.log &
ready primary
ask primary -q -c 'CREATE TABLE t (a int)' -c 'INSERT INTO t VALUES (1)'
cat >pgbouncer.ini <<END
[databases]
postgres = host=$dir/primary port=18268 user=test
[pgbouncer]
unix_socket_dir = $dir/pooler
listen_addr =
listen_port = 18268
auth_type = any
pool_mode = statement
END
chmod 644 pgbouncer.ini
launch pgbouncer -q pgbouncer.ini 2>pgbouncer.log &
ready pooler
several=$(printf 'BEGIN;\nUPDATE t SET a = 2;\nCOMMIT;\n' | ask pooler 2>&1 | grep FATAL || true)
committed=$(ask pooler -c 'BEGIN; UPDATE t SET a = 3; COMMIT' | tr '\n' ' ')
rolled=$(ask pooler -c 'BEGIN; UPDATE t SET a = 4; ROLLBACK' | tr '\n' ' ')
left=$(ask primary -c 'SELECT a FROM t')
echo "BEGIN, then UPDATE: $several"
echo "as one query: $committed"
echo "as one query: $rolled, and the value is $left"
[ "$several" = 'FATAL:  transaction blocks not allowed in statement pooling mode' ]
[ "$committed$rolled$left" = 'BEGIN UPDATE 1 COMMIT BEGIN UPDATE 1 ROLLBACK 3' ]
