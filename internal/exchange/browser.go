package exchange

// InBrowser reports whether net/http leaves requests to a browser.
var InBrowser = func() bool { return false }

// withoutRedirects asks net/http's transport, which may be wrapped, to have the browser follow no redirects. That transport deletes the
// key from the header, so each attempt has a copy.
func (x *Exchange) withoutRedirects() {
	x.Request.Header = x.Request.Header.Clone()
	x.Request.Header["js.fetch:redirect"] = []string{"manual"}
}
