// Command metrics runs workers that take locks and give them back, and serves Turnstile's figures
// for Prometheus. It brings its own server unless it is given one.
//
//	go -C examples/metrics run .
//	go -C examples/metrics run . -zk zk1:2181,zk2:2181 -listen :9464 -workers 32 -locks 4
//	curl http://127.0.0.1:9464/metrics
//
// It is a module of its own, so that the exporter is not in the library's go.mod.
// Beside it are grafana-dashboard.json, to be imported into Grafana, and alerts.yml, rules for
// Prometheus. Package metering says what the figures mean.
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"os/signal"
	"syscall"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/promhttp"
	otelprometheus "go.opentelemetry.io/otel/exporters/prometheus"
	sdkmetric "go.opentelemetry.io/otel/sdk/metric"

	"github.com/turnstile-locks/turnstile/locks"
	"github.com/turnstile-locks/turnstile/zkconn/embedded"
)

type settings struct {
	servers string
	listen  string
	load    load
}

func main() {
	var s settings
	flag.StringVar(&s.servers, "zk", "", "servers, like host:2181,host:2181/chroot; none: one inside this program")
	flag.StringVar(&s.listen, "listen", "127.0.0.1:9464", "where to serve /metrics; port 0 for a free one")
	flag.StringVar(&s.load.root, "root", "/turnstile/metrics", "the lock paths are below this")
	flag.IntVar(&s.load.workers, "workers", 8, "how many workers take locks")
	flag.IntVar(&s.load.locks, "locks", 3, "how many locks there are")
	flag.DurationVar(&s.load.hold, "hold", 20*time.Millisecond, "how long a lock is held, twice that at most")
	flag.DurationVar(&s.load.pause, "pause", 50*time.Millisecond, "how long a worker rests, twice that at most")
	flag.Parse()
	if s.load.workers < 1 || s.load.locks < 1 || s.load.hold < 0 || s.load.pause < 0 || flag.NArg() > 0 {
		fmt.Fprintln(os.Stderr, "metrics: -zk names the servers; -workers and -locks are at least 1, -hold and -pause not below 0")
		flag.Usage()
		os.Exit(2)
	}
	stopped, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	if err := run(stopped, s, os.Stdout); err != nil {
		fmt.Fprintln(os.Stderr, "metrics:", err)
		os.Exit(1)
	}
}

// run serves figures until ctx ends.
func run(ctx context.Context, s settings, out io.Writer) error {
	listener, err := net.Listen("tcp", s.listen)
	if err != nil {
		return fmt.Errorf("-listen %s: %w", s.listen, err)
	}
	defer listener.Close()
	if s.servers == "" {
		server, err := embedded.Start()
		if err != nil {
			return err
		}
		defer server.Close()
		s.servers = server.Addr()
		fmt.Fprintf(out, "no -zk: on a server of its own at %s, in memory\n", s.servers)
	}
	registry := prometheus.NewRegistry()
	exporter, err := otelprometheus.New(otelprometheus.WithRegisterer(registry), otelprometheus.WithoutScopeInfo())
	if err != nil {
		return err
	}
	meters := sdkmetric.NewMeterProvider(sdkmetric.WithReader(exporter))
	opening, cancel := context.WithTimeout(ctx, 20*time.Second)
	defer cancel()
	client, err := locks.Open(opening, s.servers, locks.WithMeterProvider(meters))
	if err != nil {
		return err
	}
	fmt.Fprintf(out, "figures at http://%s/metrics\n", listener.Addr())
	ctx, end := context.WithCancel(ctx)
	defer end()
	served := serve(ctx, end, listener, registry)
	worked := s.load.run(ctx, client)
	closing, cancelClosing := context.WithTimeout(context.WithoutCancel(ctx), 20*time.Second)
	defer cancelClosing()
	return errors.Join(worked, <-served, client.Close(closing), meters.Shutdown(closing))
}

// serve answers Prometheus until ctx ends; end ends it when that is not possible any more.
func serve(ctx context.Context, end func(), listener net.Listener, registry *prometheus.Registry) <-chan error {
	mux := http.NewServeMux()
	mux.Handle("GET /metrics", promhttp.HandlerFor(registry, promhttp.HandlerOpts{}))
	server := &http.Server{Handler: mux, ReadHeaderTimeout: 10 * time.Second}
	served := make(chan error, 1)
	go func() {
		<-ctx.Done()
		closing, cancel := context.WithTimeout(context.WithoutCancel(ctx), 5*time.Second)
		defer cancel()
		_ = server.Shutdown(closing)
	}()
	go func() {
		defer end()
		err := server.Serve(listener)
		if errors.Is(err, http.ErrServerClosed) {
			err = nil
		}
		served <- err
	}()
	return served
}
