package dashboard

import (
	"log/slog"
	"net/http/httptest"
	"net/url"
	"testing"
	"time"

	"github.com/turnstile-locks/turnstile/examples/dashboard/board"
	"github.com/turnstile-locks/turnstile/examples/dashboard/look"
	"github.com/turnstile-locks/turnstile/examples/dashboard/web"
	"github.com/turnstile-locks/turnstile/locks"
	"github.com/turnstile-locks/turnstile/tests/scene"
	"github.com/turnstile-locks/turnstile/zkconn/embedded"
)

// token lets the tests ask locks back.
const token = "a token of 26 letters or so"

// house is a server, a dashboard that looks at it, and a client that locks.
type house struct {
	zk      *embedded.Server
	server  *httptest.Server
	looking *locks.Client // the dashboard's own
	client  *locks.Client
}

// serve starts all of it.
func serve(t testing.TB) *house {
	t.Helper()
	zk := embedded.Run(t)
	h := serveAt(t, zk.Addr())
	h.zk, h.client = zk, scene.Open(t, zk.Addr())
	return h
}

// serveAt starts a dashboard that looks at a server.
func serveAt(t testing.TB, servers string, opts ...locks.Option) *house {
	t.Helper()
	browser(t) // without which the test is skipped
	looking := scene.Open(t, servers, opts...)
	seen := board.New("/")
	looker := look.Start(looking, seen, look.Settings{Root: "/", Every: 200 * time.Millisecond, Most: 200})
	t.Cleanup(looker.Close)
	dashboard := web.New(web.Settings{Board: seen, Client: looking, Root: "/", Open: looker.Open, Token: token,
		Servers: servers, Log: slog.New(slog.DiscardHandler)})
	server := httptest.NewServer(dashboard)
	t.Cleanup(server.Close)
	t.Cleanup(dashboard.Close)
	return &house{server: server, looking: looking}
}

// page gives the address of a lock's page; for "", of the page of all locks.
func (h *house) page(path string) string {
	if path == "" {
		return h.server.URL + "/"
	}
	return h.server.URL + "/lock?path=" + url.QueryEscape(path)
}
