package gateways

// Those that only the night runs, with what Debian makes of them by default.
var nightly = []gateway{
	{name: "varnish", program: "varnishd"}, // repeats what has no body
	{name: "trafficserver", program: "traffic_server", config: trafficserver()},
	{name: "squid", program: "squid", config: squid("")},
	{name: "lighttpd", program: "lighttpd", config: lighttpd("")},
	{name: "nghttpx", program: "nghttpx", config: nghttpx},
	{name: "h2o", program: "h2o", config: h2o("")},
	{name: "tinyproxy", program: "tinyproxy", closes: true, config: tinyproxy},
}

const (
	nghttpx = `frontend=127.0.0.1,PORT;no-tls
backend=127.0.0.1,BACK
workers=1
pid-file=DIR/pid
errorlog-file=DIR/error.log
`
	tinyproxy = `Port PORT
Listen 127.0.0.1
MaxClients 100
Timeout 60
PidFile "DIR/pid"
LogFile "DIR/log"
ReverseOnly Yes
ReversePath "/" "http://ORIGIN/"
`
)

func trafficserver(lines ...string) string {
	text := `
-- runroot.yaml --
prefix: DIR
exec_prefix: DIR
bindir: /usr/bin
sbindir: /usr/bin
sysconfdir: DIR
datadir: DIR
includedir: DIR
libdir: /usr/lib/trafficserver
localstatedir: DIR
runtimedir: DIR
logdir: DIR
cachedir: DIR
libexecdir: /usr/lib/trafficserver/modules
-- remap.config --
map / http://ORIGIN/
-- storage.config --
DIR 32M
-- ip_allow.yaml --
ip_allow:
  - apply: in
    ip_addrs: 0/0
    action: allow
    methods: ALL
-- records.config --
CONFIG proxy.config.http.server_ports STRING PORT:ip-in=127.0.0.1
CONFIG proxy.config.log.logging_enabled INT 0
CONFIG proxy.config.net.connections_throttle INT 1000
CONFIG proxy.config.admin.user_id STRING trafficserver
`
	for _, line := range lines {
		text += line + "\n"
	}
	return text
}

func squid(lines string) string {
	return `http_port 127.0.0.1:PORT accel defaultsite=127.0.0.1 no-vhost
cache_peer 127.0.0.1 parent BACK 0 no-query originserver login=PASS
http_access allow all
visible_hostname gateway
pid_filename DIR/pid
cache_log DIR/cache.log
access_log none
coredump_dir DIR
pinger_enable off
shutdown_lifetime 0 seconds
` + lines
}

func lighttpd(lines string) string {
	return `server.modules = ("mod_proxy")
server.document-root = "DIR"
server.bind = "127.0.0.1"
server.port = PORT
server.errorlog = "DIR/error.log"
proxy.server = ("" => (("host" => "127.0.0.1", "port" => BACK)))
` + lines
}

func h2o(lines string) string {
	return `listen:
  host: 127.0.0.1
  port: PORT
num-threads: 1
pid-file: DIR/pid
error-log: DIR/error.log
` + lines + `hosts:
  default:
    paths:
      "/":
        proxy.reverse.url: http://ORIGIN/
`
}
