package check

import (
	"net/http"
	"net/netip"
	"net/url"
	"strings"
	"unicode"
	"unicode/utf8"

	"example.com/prospectkit/internal/op"
)

// BaseURL parses a base URL, which must end in suffix. No message quotes it: swapped arguments would
// print a token.
func BaseURL(bad *Violations, text, suffix string) *url.URL {
	const param = "base URL"
	u, err := url.Parse(text)
	switch {
	case text == "":
		bad.Add(param, "must not be empty")
	case err != nil:
		bad.Add(param, "is not a URL")
	case u.Scheme != "https" && u.Scheme != "http":
		bad.Add(param, "must start with https:// (or http:// to this machine)")
	case u.Hostname() == "":
		bad.Add(param, "names no host")
	case strings.ContainsFunc(u.Hostname(), func(r rune) bool { return r > unicode.MaxASCII }):
		bad.Add(param, "names a host with letters beyond ASCII, which may only look alike: write its xn-- form")
	case u.User != nil:
		bad.Add(param, "must not carry credentials")
	case u.RawQuery != "" || u.ForceQuery || u.Fragment != "":
		bad.Add(param, "must not have a query or fragment")
	case !strings.HasSuffix(strings.TrimSuffix(u.EscapedPath(), "/"), suffix): // api%2Fv1 is another path, and no journal knows api/v%31
		bad.Add(param, "must end in %s", suffix)
	case !op.ValidPath(u.EscapedPath()):
		bad.Add(param, "has a path with empty or dot segments")
	default:
		respell(u)
		return u
	}
	return nil
}

// respell gives a base URL the one spelling of its service: its host in lower case, no port that is the default, no slash at the end.
func respell(u *url.URL) {
	u.Path = strings.TrimSuffix(u.Path, "/")
	u.RawPath = strings.TrimSuffix(u.RawPath, "/")
	defaults := map[string]string{"https": ":443", "http": ":80"}
	u.Host = strings.TrimSuffix(strings.TrimSuffix(strings.ToLower(u.Host), defaults[u.Scheme]), ":")
}

// IsLoopback reports whether a host is this machine. It looks no name up.
func IsLoopback(host string) bool {
	ip, err := netip.ParseAddr(host)
	return strings.EqualFold(host, "localhost") || err == nil && ip.Unmap().IsLoopback()
}

// Token checks an API token, which becomes the user name of HTTP Basic.
func Token(bad *Violations, token string) {
	switch {
	case token == "":
		bad.Add("token", "must not be empty")
	case strings.TrimSpace(token) != token:
		bad.Add("token", "has space around it")
	case strings.ContainsFunc(token, unseen):
		at := strings.IndexFunc(token, unseen)
		r, _ := utf8.DecodeRuneInString(token[at:])
		bad.Add("token", "has a character that nobody sees, %U, at byte %d: copy the key again", r, at)
	case strings.Contains(token, ":"):
		bad.Add("token", "has a colon, which HTTP Basic cannot carry")
	}
}

// unseen reports whether a character shows nothing: a control or format character, or a space other than the plain one.
func unseen(r rune) bool {
	return r != ' ' && unicode.In(r, unicode.Cc, unicode.Cf, unicode.Z, unicode.Other_Default_Ignorable_Code_Point, unicode.Variation_Selector)
}

// Route checks method and path of an operation, and returns them.
func Route(bad *Violations, param, route string) (method, path string) {
	method, path, _ = strings.Cut(route, " ")
	bad.Must(IsToken(method) && strings.ToUpper(method) == method && op.ValidRoute(path), param,
		"must be a method and a path like POST /lists/{listId}, of letters, digits, - _ . ~ and whole parameters, without empty or dot segments")
	return method, path
}

// Operation checks an operation that is not in the table. Its path is that of the request.
func Operation(bad *Violations, o *op.Op, path string) {
	for _, field := range [][2]string{
		{"Name", o.Name}, {"Method", o.Method}, {"Path", path}, {"Surface", string(o.Surface)},
	} {
		bad.Must(field[1] != "", "Operation."+field[0], "is required")
	}
	bad.Text("Operation.Name", o.Name) // by which a journal finds its calls
	OneOf(bad, "Operation.Method", o.Method,
		http.MethodGet, http.MethodPost, http.MethodPut, http.MethodPatch, http.MethodDelete)
	bad.Must(o.Write() || o.Method == http.MethodGet || o.Method == http.MethodPost, "Operation.Reads", "is set, and the method writes: %s", o.Method)
	bad.Must(path == "" || op.ValidRoute(path) && !strings.ContainsAny(path, "{}"),
		"Operation.Path", "must start with / and be of letters, digits, - _ . ~, without empty or dot segments")
	_, known := op.DocumentedLimits[o.Surface]
	bad.Must(known || o.Surface == "", "Operation.Surface", "is %q, must be one of the surfaces of this package", o.Surface)
	bad.Must(o.Timeout >= 0, "Operation.AttemptTimeout", "must not be negative")
}

// IsToken reports whether s can be the name of a header. net/http would refuse any other too late
// to prove that nothing was sent.
func IsToken(s string) bool {
	return s != "" && !strings.ContainsFunc(s, func(r rune) bool {
		return r <= ' ' || r >= 0x7f || strings.ContainsRune("\"(),/:;<=>?@[\\]{}", r)
	})
}

// HasControl reports whether s has a control character.
func HasControl(s string) bool { return strings.ContainsFunc(s, unicode.IsControl) }
