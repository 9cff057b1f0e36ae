package web

import (
	"context"
	"encoding/json"
	"log/slog"
	"net/http"
	"sync"

	"github.com/turnstile-locks/turnstile/examples/dashboard/board"
	"github.com/turnstile-locks/turnstile/messages"
)

// Client is the part of a Turnstile client with which the dashboard asks for a lock.
type Client interface {
	Queue(ctx context.Context, path string) ([]messages.Contender, error)
	Revoke(ctx context.Context, path string) ([]messages.Contender, error)
}

// Settings are the settings of a dashboard. Fields without a comment have to be set.
type Settings struct {
	Board  *board.Board
	Client Client
	// Root is the node below which locks are shown and revoked, even where the credentials reach
	// more; "/" is all.
	Root string
	// Open says that somebody looks at a lock's page; closed is called when that is over.
	Open func(path string) (closed func())
	// Token is the secret that a revoke request needs; "" when nobody may send one.
	Token string
	// Hosts are the names under which the dashboard may be reached besides localhost and addresses.
	Hosts []string
	// Servers names the servers on the page.
	Servers string
	Log     *slog.Logger
}

// Dashboard is the handler of all requests.
type Dashboard struct {
	Settings
	handler http.Handler
	streams chan struct{} // holds one for each open stream
	ended   chan struct{}
	end     sync.Once
}

// New makes the handler. The server that it is given to should have a ReadTimeout, which bounds how long a body may
// take; streams live on after it.
func New(s Settings) *Dashboard {
	d := &Dashboard{Settings: s, streams: make(chan struct{}, mostStreams), ended: make(chan struct{})}
	mux := http.NewServeMux()
	for path, file := range assets {
		mux.Handle("GET "+path, file)
	}
	mux.HandleFunc("GET /events", d.overviewStream)
	mux.HandleFunc("GET /events/lock", d.lockStream)
	mux.Handle("/revoke", http.HandlerFunc(d.revoke))
	d.handler = secure(d.onlyHosts(mux))
	return d
}

// ServeHTTP answers a request.
func (d *Dashboard) ServeHTTP(w http.ResponseWriter, r *http.Request) { d.handler.ServeHTTP(w, r) }

// Close ends all streams, which never end by themselves: a server that shuts down would wait for them.
func (d *Dashboard) Close() { d.end.Do(func() { close(d.ended) }) }

// answer writes JSON.
func answer(w http.ResponseWriter, status int, body any) {
	w.Header().Set("Content-Type", "application/json; charset=utf-8")
	w.Header().Set("Cache-Control", "no-store")
	w.WriteHeader(status)
	_ = json.NewEncoder(w).Encode(body)
}

// refuse says in one sentence why not.
func refuse(w http.ResponseWriter, status int, why string) {
	answer(w, status, map[string]string{"error": why})
}
