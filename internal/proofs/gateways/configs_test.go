package gateways

import (
	"strings"
)

const (
	nginxHead = `daemon off; master_process off; pid DIR/nginx.pid; error_log DIR/error.log; worker_rlimit_nofile 1024;
events { worker_connections 512; }
http {
	access_log off; default_type application/json;
	client_body_temp_path DIR/body; proxy_temp_path DIR/proxy; fastcgi_temp_path DIR/f; uwsgi_temp_path DIR/u; scgi_temp_path DIR/s;
`
	haproxyHead = `global
	maxconn 256
defaults
	mode http
	timeout connect 100ms
	retries 1
	timeout client 10s
	timeout server 10s
`
	apacheHead = `ServerName localhost
Listen 127.0.0.1:PORT
PidFile DIR/apache.pid
ErrorLog DIR/error.log
Mutex file:DIR
User www-data
Group www-data
LoadModule mpm_event_module /usr/lib/apache2/modules/mod_mpm_event.so
LoadModule authz_core_module /usr/lib/apache2/modules/mod_authz_core.so
LoadModule proxy_module /usr/lib/apache2/modules/mod_proxy.so
LoadModule proxy_http_module /usr/lib/apache2/modules/mod_proxy_http.so
LoadModule headers_module /usr/lib/apache2/modules/mod_headers.so
LoadModule filter_module /usr/lib/apache2/modules/mod_filter.so
LoadModule deflate_module /usr/lib/apache2/modules/mod_deflate.so
LoadModule rewrite_module /usr/lib/apache2/modules/mod_rewrite.so
ProxyPass /api http://ORIGIN/api
`
	caddyHead = `{
	admin off
	auto_https off
	storage file_system DIR
}
http://127.0.0.1:PORT {
`
)

// nginx serves what is in location, and further what is in server.
func nginx(location, server string) string {
	return nginxHead + `upstream origin { server ORIGIN; }
	server {
		listen 127.0.0.1:PORT;
		location / { proxy_pass http://origin; ` + location + ` }
		` + server + `
	}
}
`
}

// errorPage rewrites the errors of a gateway, and of the service behind it.
func errorPage(status, contentType, body string) string {
	return nginx(`proxy_intercept_errors on; error_page 500 502 503 504 =`+status+` /sorry;`,
		`location = /sorry { internal; default_type "`+contentType+`"; return `+status+` '`+body+`'; }`)
}

func haproxy(lines ...string) string {
	return haproxyHead + strings.Join(lines, "\n") + `
frontend front
	bind 127.0.0.1:PORT
	default_backend origin
`
}

var configured = []gateway{
	{name: "nginx", program: "nginx", config: nginx("", "")},
	{name: "nginx, kept alive and unbuffered", program: "nginx", config: nginx(
		`proxy_http_version 1.1; proxy_set_header Connection ""; proxy_buffering off; proxy_request_buffering off; gzip on; gzip_types *; gzip_min_length 1; gzip_proxied any;`, "")},
	{name: "nginx, error pages as 200 JSON", program: "nginx", lies: true, config: errorPage("200", "application/json", `{"status":"unavailable"}`)},
	{name: "nginx, error pages as 204", program: "nginx", config: errorPage("204", "application/json", "")},
	{name: "nginx, error pages as 200 HTML", program: "nginx", config: errorPage("200", "text/html", "<h1>Sorry</h1>")},
	{name: "nginx, error pages as 200 with an envelope", program: "nginx", config: errorPage("200", "application/json", `{"error":{"code":"GATEWAY"}}`)},
	{name: "nginx, error pages as 403 with an envelope", program: "nginx", config: errorPage("403", "application/json", `{"error":{"code":"GATEWAY"}}`)},
	{name: "nginx, error pages as 404 with an envelope", program: "nginx", config: errorPage("404", "application/json", `{"error":{"code":"NOT_THERE","message":"no"}}`)},
	{name: "nginx, error pages as a redirect", program: "nginx", config: errorPage("302", "text/html", "https://elsewhere.example/")},
	{name: "nginx, limited to 429", program: "nginx", config: strings.Replace(nginx("limit_req zone=z burst=4 nodelay; limit_req_status 429;", ""),
		"upstream", "limit_req_zone $server_name zone=z:1m rate=200r/s;\nupstream", 1)},
	{name: "nginx, limited to 503", program: "nginx", config: strings.Replace(nginx("limit_req zone=z burst=4 nodelay;", ""),
		"upstream", "limit_req_zone $server_name zone=z:1m rate=200r/s;\nupstream", 1)},
	{name: "nginx, rate headers dropped", program: "nginx", config: nginx(
		"proxy_hide_header RateLimit-Limit; proxy_hide_header RateLimit-Remaining; proxy_hide_header RateLimit-Reset;", "")},
	{name: "nginx, next upstream", program: "nginx", config: strings.Replace(nginx("proxy_next_upstream error timeout http_502 http_503;", ""),
		"server ORIGIN;", "server ORIGIN; server SPARE;", 1)},
	{name: "nginx, next upstream for POST too", program: "nginx", repeats: true, config: strings.Replace(
		nginx("proxy_next_upstream error timeout http_502 http_503 non_idempotent;", ""), "server ORIGIN;", "server ORIGIN max_fails=0; server SPARE max_fails=0;", 1)},

	{name: "haproxy", program: "haproxy", config: haproxy("backend origin", "server a ORIGIN")},
	{name: "haproxy, reuse and compression", program: "haproxy", config: haproxy(
		"backend origin", "http-reuse always", "compression algo gzip", "compression type application/json", "server a ORIGIN")},
	{name: "haproxy, rate headers dropped", program: "haproxy", config: haproxy("backend origin", "http-response del-header ratelimit- -m beg", "server a ORIGIN")},
	{name: "haproxy, the status of errors set to 200", program: "haproxy", config: haproxy(
		"backend origin", "http-response set-status 200 if { status ge 500 }", "server a ORIGIN")},
	{name: "haproxy, errors as 200 JSON", program: "haproxy", lies: true, config: haproxy("backend origin",
		`http-response return status 200 content-type application/json string '{"status":"unavailable"}' if { status ge 500 }`, "server a ORIGIN")},
	{name: "haproxy, repeats all that may be repeated", program: "haproxy", repeats: true, config: haproxy("backend origin",
		"retries 3", "option redispatch 1", "retry-on all-retryable-errors", "server a ORIGIN", "server b SPARE")},

	{name: "apache2", program: "apache2", config: apacheHead},
	{name: "apache2, compressed", program: "apache2", config: apacheHead + "SetOutputFilter DEFLATE\n"},
	{name: "apache2, rate headers dropped", program: "apache2", config: apacheHead +
		"Header unset RateLimit-Limit\nHeader unset RateLimit-Remaining\nHeader unset RateLimit-Reset\n"},
	{name: "apache2, error documents of its own", program: "apache2", config: apacheHead + "ProxyErrorOverride On 500 502 503 504\nErrorDocument 500 \"sorry\"\nErrorDocument 502 \"sorry\"\nErrorDocument 503 \"sorry\"\n"},

	{name: "caddy", program: "caddy", config: caddyHead + "reverse_proxy ORIGIN\n}\n"},
	{name: "caddy, compressed", program: "caddy", config: caddyHead + "encode gzip\nreverse_proxy ORIGIN\n}\n"},
	{name: "caddy, rate headers dropped", program: "caddy", config: caddyHead + "reverse_proxy ORIGIN {\nheader_down -RateLimit-*\n}\n}\n"},
	{name: "caddy, errors as 200 JSON", program: "caddy", lies: true, config: caddyHead +
		"reverse_proxy ORIGIN {\n@bad status 5xx\nhandle_response @bad {\nheader Content-Type application/json\nrespond `{\"status\":\"unavailable\"}` 200\n}\n}\n" +
		"handle_errors {\nheader Content-Type application/json\nrespond `{\"status\":\"unavailable\"}` 200\n}\n}\n"},
	{name: "caddy, errors as 204", program: "caddy", config: caddyHead + "reverse_proxy ORIGIN\nhandle_errors {\nrespond 204\n}\n}\n"},
	{name: "caddy, repeats POST", program: "caddy", repeats: true, config: caddyHead +
		"reverse_proxy ORIGIN SPARE {\nlb_retries 3\nlb_try_duration 2s\nlb_try_interval 10ms\nlb_retry_match {\nmethod POST PATCH GET\n}\n}\n}\n"},
}

// Other programs, with what Debian makes of them by default.
var defaults = []gateway{
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
