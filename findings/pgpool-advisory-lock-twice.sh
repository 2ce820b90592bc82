#!/usr/bin/env bash
# Pgpool-II 4.3.5 (Debian 12) with a primary and a standby, PostgreSQL 15.20, and a write_function_list.
#
# One would guess: pg_try_advisory_lock is volatile, so it goes to the primary, and of twelve sessions one has the lock. The list only adds to that.
# What happens: once the list names anything, no other function counts as one that writes. Each session locks where its reads go, and two have the
# lock at once, one on the primary and one on the standby:
#   default: 1 of 12 sessions has the lock
#   write_function_list = 'nextval,setval': 2 of 12 sessions have the lock
# So a lock that has worked is none after any function was added to the list.
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
ask() { psql -h "$dir/$1" -p 18260 -U test -At postgres "${@:2}"; }
ready() {
	for _ in {1..150}; do ask "$1" -c 'SELECT 1' >ready.log 2>&1 && return; sleep 0.2; done
	cat *.log && false
}

mkdir -m 777 primary standby pooler
(launch initdb -D primary/data -U test -A trust >initdb.log)
launch postgres -D primary/data -k "$dir/primary" -p 18260 -c listen_addresses= 2>primary.log &
ready primary
(launch pg_basebackup -h "$dir/primary" -p 18260 -U test -D standby/data -R -c fast)
launch postgres -D standby/data -k "$dir/standby" -p 18260 -c listen_addresses= 2>standby.log &
ready standby

start() {
	cat >pgpool.conf <<END
backend_clustering_mode = 'streaming_replication'
backend_hostname0 = '$dir/primary'
backend_port0 = 18260
backend_weight0 = 1
backend_hostname1 = '$dir/standby'
backend_weight1 = 1
backend_port1 = 18260
listen_addresses = ''
port = 18260
pcp_listen_addresses = ''
socket_dir = '$dir/pooler'
pcp_socket_dir = '$dir/pooler'
logdir = '$dir/pooler'
pid_file_name = '$dir/pooler/pid'
sr_check_period = 1
num_init_children = 16
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

# Twelve sessions ask for one lock, and stay until all have asked.
lock() {
	for i in {1..12}; do
		(echo 'SELECT pg_try_advisory_lock(42);'; sleep 4) | ask pooler >"asked$i" &
		sessions[i]=$!
	done
	wait "${sessions[@]}"
	cat asked? | grep -c t || true
}
start "sr_check_user = 'test'"
lock >default
stop
start "sr_check_user = 'test'
write_function_list = 'nextval,setval'"
lock >listed
stop
echo "default: $(cat default) of 12 sessions has the lock"
echo "write_function_list = 'nextval,setval': $(cat listed) of 12 sessions have the lock"
[ "$(cat default)" = 1 ] && [ "$(cat listed)" = 2 ]
