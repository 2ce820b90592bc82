#!/usr/bin/env bash
# Pgpool-II 4.3.5 (Debian 12), which does not know yet, or cannot find out, which server is the primary: here the user of sr_check_user may not
# log in. PostgreSQL 15.20. One query is sent: BEGIN READ WRITE; DELETE FROM t; COMMIT
#
# One would guess: its statements are carried out, or it is an error.
# What happens: the query is replaced by BEGIN, the rest of it is dropped, and the client gets a success:
#   sr_check_user = 'nobody': psql says BEGIN , status 0; rows left: 1
#   sr_check_user = 'test': psql says BEGIN DELETE 1 COMMIT , status 0; rows left: 0
# The same happens with the right user in the first moments after a start. So a client has to count the results of what it sends.
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
ask() { psql -h "$dir/$1" -p 18264 -U test -At postgres "${@:2}"; }
ready() {
	for _ in {1..150}; do ask "$1" -c 'SELECT 1' >ready.log 2>&1 && return; sleep 0.2; done
	cat *.log && false
}

mkdir -m 777 primary standby pooler
(launch initdb -D primary/data -U test -A trust >initdb.log)
launch postgres -D primary/data -k "$dir/primary" -p 18264 -c listen_addresses= 2>primary.log &
ready primary
(launch pg_basebackup -h "$dir/primary" -p 18264 -U test -D standby/data -R -c fast)
launch postgres -D standby/data -k "$dir/standby" -p 18264 -c listen_addresses= 2>standby.log &
ready standby

start() {
	cat >pgpool.conf <<END
backend_clustering_mode = 'streaming_replication'
backend_hostname0 = '$dir/primary'
backend_port0 = 18264
backend_weight0 = 0
backend_hostname1 = '$dir/standby'
backend_weight1 = 1
backend_port1 = 18264
listen_addresses = ''
port = 18264
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

ask primary -q -c 'CREATE TABLE t (a int)' -c 'INSERT INTO t VALUES (1)'
empty() {
	start "sr_check_user = '$1'"
	status=0
	said=$(ask pooler -c 'BEGIN READ WRITE; DELETE FROM t; COMMIT' 2>&1 | tr '\n' ' ') || status=$?
	rows=$(ask primary -c 'SELECT count(*) FROM t')
	echo "sr_check_user = '$1': psql says $said, status $status; rows left: $rows"
	stop
}
empty nobody
[ "$said$status$rows" = "BEGIN 01" ]
empty test
[ "$said$status$rows" = "BEGIN DELETE 1 COMMIT 00" ]
