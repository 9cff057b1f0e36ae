package web

import (
	"net/http"
	"strings"

	"github.com/turnstile-locks/turnstile/zkconn"
)

// within tells whether a path that we were sent is one of the locks that the dashboard is for, and if not why. The
// credentials may reach others, too: who can open the page has not been given those.
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
