#!/usr/bin/env bash
# Pgpool-II 4.3.5 (Debian 12) with disable_load_balance_on_write = 'dml_adaptive', a primary and a standby that is late, PostgreSQL 15.20.
#
# One would guess: whoever holds LOCK TABLE in exclusive mode reads the table as it is, as with the default 'transaction'.
# What happens: only INSERT, UPDATE and DELETE count. The lock is taken on the primary, and the SELECT after it is answered by the standby:
#   transaction: new
#   dml_adaptive: old
# So a read, a decision and a write under such a lock decide by what was.
set -euo pipefail
dir=$(mktemp -d)
trap 'kill -INT $(jobs -p) 2>/dev/null || true; wait; rm -rf "$dir"' EXIT
cd "$dir"

packages="postgresql-15=15.20-0+deb12u1 postgresql-client-15=15.20-0+deb12u1 libpq5=15.20-0+deb12u1 pgpool2=4.3.5-1+deb12u1"
needed=$(apt-get -s install --no-install-recommends $packages 2>/dev/null | awk '/^Inst/ && $2 !~ /^(postgresql|libpq5|pgpool2|pgbouncer)/ { print $2 }')
apt-get -qq download $packages $needed >apt.log 2>&1
for package in *.deb; do dpkg -x "$package" .; done
chmod 777 .
export LD_LIBRARY_PATH=$dir/usr/lib/x86_64-linux-gnu PATH=$dir/usr/lib/postgresql/15/bin:$dir/usr/sbin:$PATH LC_ALL=C
postgres --version
pgpool --version 2>&1

launch() { # PostgreSQL refuses root
	if [ "$(id -u)" = 0 ]; then exec setpriv --reuid=65534 --regid=65534 --clear-groups "$@"; else exec "$@"; fi
}
ask() { psql -h "$dir/$1" -p 18262 -U test -At postgres "${@:2}"; }
ready() {
	for _ in {1..150}; do ask "$1" -c 'SELECT 1' >ready.log 2>&1 && return; sleep 0.2; done
	cat *.log && false
}

mkdir -m 777 primary standby pooler
(launch initdb -D primary/data -U test -A trust >initdb.log)
launch postgres -D primary/data -k "$dir/primary" -p 18262 -c listen_addresses= 2>primary.log &
ready primary
(launch pg_basebackup -h "$dir/primary" -p 18262 -U test -D standby/data -R -c fast)
launch postgres -D standby/data -k "$dir/standby" -p 18262 -c listen_addresses= 2>standby.log &
ready standby

start() {
	cat >pgpool.conf <<END
backend_clustering_mode = 'streaming_replication'
backend_hostname0 = '$dir/primary'
backend_port0 = 18262
backend_weight0 = 0
backend_hostname1 = '$dir/standby'
backend_weight1 = 1
backend_port1 = 18262
listen_addresses = ''
port = 18262
pcp_listen_addresses = ''
socket_dir = '$dir/pooler'
pcp_socket_dir = '$dir/pooler'
logdir = '$dir/pooler'
pid_file_name = '$dir/pooler/pid'
sr_check_period = 1
num_init_children = 8
pool_passwd = ''
$1
END
	chmod 644 pgpool.conf
	launch pgpool -n -f "$dir/pgpool.conf" >pgpool.log 2>&1 &
	pool=$!
	ready pooler
	sleep 3 # until it has looked for the primary
}
stop() { kill -INT "$pool"; wait "$pool" || true; }

ask primary -q -c "CREATE TABLE t (state text)" -c "INSERT INTO t VALUES ('old')"
for _ in {1..100}; do [ "$(ask standby -c 'SELECT state FROM t' 2>&1)" != old ] || break; sleep 0.1; done
ask standby -q -c "ALTER SYSTEM SET recovery_min_apply_delay = '1h'" -c 'SELECT pg_reload_conf()' >reload.log
sleep 1
ask primary -q -c "UPDATE t SET state = 'new'"
look() { printf 'BEGIN;\nLOCK TABLE t IN EXCLUSIVE MODE;\nSELECT state FROM t;\nCOMMIT;\n' | ask pooler -q; }
for setting in transaction dml_adaptive; do
	start "sr_check_user = 'test'
disable_load_balance_on_write = '$setting'"
	look >"$setting"
	stop
	echo "$setting: $(cat "$setting")"
done
[ "$(cat transaction)" = new ] && [ "$(cat dml_adaptive)" = old ]
