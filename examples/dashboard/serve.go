package main

import (
	"context"
	"log/slog"
	"net"
	"net/http"
	"time"

	"github.com/turnstile-locks/turnstile/examples/dashboard/web"
)

// limits bound the time that a connection may take: a client that sends slowly, or never ends, has
// to be let go.
type limits struct {
	header time.Duration // until a request's header is there
	read   time.Duration // until its body is, too
	write  time.Duration // until it is answered, from the header on; each message of a stream has a limit of its own
	idle   time.Duration // between two requests
}

// usualLimits leave ZooKeeper its time when a revoke request is sent.
var usualLimits = limits{header: 5 * time.Second, read: 10 * time.Second, write: time.Minute, idle: 2 * time.Minute}

// serve answers requests until ctx ends, and then ends all that are open.
func serve(ctx context.Context, listener net.Listener, dashboard *web.Dashboard, l limits, log *slog.Logger) error {
	server := &http.Server{Handler: dashboard, ReadHeaderTimeout: l.header, ReadTimeout: l.read, WriteTimeout: l.write,
		IdleTimeout: l.idle, MaxHeaderBytes: 32 << 10, ErrorLog: slog.NewLogLogger(log.Handler(), slog.LevelWarn)}
	server.RegisterOnShutdown(dashboard.Close)
	served := make(chan error, 1)
	go func() { served <- server.Serve(listener) }()
	select {
	case err := <-served:
		return err
	case <-ctx.Done():
	}
	closing, cancel := context.WithTimeout(context.WithoutCancel(ctx), 5*time.Second)
	defer cancel()
	if server.Shutdown(closing) != nil {
		_ = server.Close()
	}
	<-served
	return nil
}
