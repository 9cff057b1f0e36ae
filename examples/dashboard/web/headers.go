package web

import (
	"net"
	"net/http"
	"net/netip"
	"slices"
	"strings"
)

// policy lets pages use their own scripts, styles, pictures and streams, and nothing else; it lets no script turn
// text into markup, and no other page frame ours.
const policy = "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self'; connect-src 'self'; " +
	"base-uri 'none'; form-action 'none'; frame-ancestors 'none'; require-trusted-types-for 'script'; trusted-types 'none'"

// secure sets the headers that every answer has.
func secure(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		for name, value := range map[string]string{
			"Content-Security-Policy":      policy,
			"X-Content-Type-Options":       "nosniff",
			"X-Frame-Options":              "DENY",
			"Referrer-Policy":              "no-referrer",
			"Cross-Origin-Opener-Policy":   "same-origin",
			"Cross-Origin-Resource-Policy": "same-origin",
			"Permissions-Policy":           "camera=(), geolocation=(), microphone=()",
		} {
			w.Header().Set(name, value)
		}
		next.ServeHTTP(w, r)
	})
}

// onlyHosts refuses requests that were sent to a name which is not ours. A page of another site could otherwise have
// its own name lead to us, and read what we answer.
func (d *Dashboard) onlyHosts(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		name := hostName(r.Host)
		_, err := netip.ParseAddr(name)
		if err != nil && name != "localhost" && !slices.ContainsFunc(d.Hosts, func(h string) bool { return strings.EqualFold(h, name) }) {
			refuse(w, http.StatusMisdirectedRequest, "This dashboard is not told that it is called "+name+
				". Start it with -host "+name+" if that is right.")
			return
		}
		next.ServeHTTP(w, r)
	})
}

// hostName is a Host header without its port and without brackets.
func hostName(host string) string {
	if name, _, err := net.SplitHostPort(host); err == nil {
		return strings.ToLower(name)
	}
	return strings.ToLower(strings.Trim(host, "[]"))
}
