package sandbox

import (
	"crypto/sha256"
	_ "embed"
	"encoding/base64"
	"fmt"
	"net/http"
	"strings"
)

// The dashboard is one page without other files. It uses the public control plane.
var (
	//go:embed dashboard/page.html
	dashboardPage string
	//go:embed dashboard/style.css
	dashboardStyle string
	//go:embed dashboard/script.js
	dashboardScript string

	dashboard = strings.NewReplacer("{{style}}", dashboardStyle, "{{script}}", dashboardScript).Replace(dashboardPage)

	// dashboardPolicy allows the page its own script and style and this server, and nothing else.
	dashboardPolicy = fmt.Sprintf("default-src 'none'; script-src %s; style-src %s; connect-src 'self'; img-src data:; "+
		"base-uri 'none'; form-action 'none'; frame-ancestors 'none'; require-trusted-types-for 'script'; trusted-types 'none'",
		digest(dashboardScript), digest(dashboardStyle))
)

// digest is the hash of a script or style for the policy.
func digest(text string) string {
	sum := sha256.Sum256([]byte(text))
	return "'sha256-" + base64.StdEncoding.EncodeToString(sum[:]) + "'"
}

func serveDashboard(w http.ResponseWriter) {
	header := w.Header()
	header.Set("Content-Type", "text/html; charset=utf-8")
	header.Set("Content-Security-Policy", dashboardPolicy)
	header.Set("X-Content-Type-Options", "nosniff")
	header.Set("Referrer-Policy", "no-referrer")
	header.Set("Cache-Control", "no-store")
	_, _ = w.Write([]byte(dashboard)) // an error here means that the client is gone
}
