package exchange

// InBrowser reports whether net/http leaves requests to a browser.
var InBrowser = func() bool { return false }
