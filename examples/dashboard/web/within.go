package web

import (
	"net/http"
	"strings"

	"github.com/turnstile-locks/turnstile/zkconn"
)

// within reports whether a path that we were sent is below the dashboard's root, and if not why.
// The credentials may reach other locks, too, but a person who can open the page has no right to
// those.
func (d *Dashboard) within(path string) (status int, why string) {
	if err := zkconn.CheckPath(path); err != nil {
		return http.StatusBadRequest, "That is no lock path: " + err.Error()
	}
	root := strings.TrimSuffix(d.Root, "/")
	if path != root && !strings.HasPrefix(path, root+"/") {
		return http.StatusForbidden, "This dashboard shows the locks below " + d.Root + " only; " + path + " is not one of them."
	}
	return http.StatusOK, ""
}
