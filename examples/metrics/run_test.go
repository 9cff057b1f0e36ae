package main

import (
	"bufio"
	"context"
	"io"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"go.uber.org/goleak"

	"github.com/turnstile-locks/turnstile/tests/scene"
	"github.com/turnstile-locks/turnstile/zkconn/embedded"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

var quick = load{root: "/metrics", workers: 4, locks: 2, hold: time.Millisecond, pause: time.Millisecond}

// start runs the program and gives the address of its figures. stop ends it, in order.
func start(t *testing.T, s settings) (url string, stop func()) {
	ctx, cancel := context.WithCancel(context.Background())
	output, out := io.Pipe()
	ended := make(chan error, 1)
	go func() {
		err := run(ctx, s, out)
		out.Close()
		ended <- err
	}()
	lines := bufio.NewScanner(output)
	for url == "" && lines.Scan() {
		_, url, _ = strings.Cut(lines.Text(), "figures at ")
	}
	go func() { _, _ = io.Copy(io.Discard, output) }()
	stop = func() {
		cancel()
		select {
		case err := <-ended:
			require.NoError(t, err)
		case <-scene.Deadline(t).Done():
			t.Fatal("it never ended")
		}
	}
	if url == "" {
		require.NoError(t, <-ended)
		t.Fatal("it did not say where its figures are")
	}
	return url, stop
}

// scrape reads the figures as Prometheus does: names with their labels, and values as they are written.
func scrape(t *testing.T, url string) map[string]string {
	client := http.Client{Transport: &http.Transport{DisableKeepAlives: true}}
	request, err := http.NewRequestWithContext(scene.Deadline(t), http.MethodGet, url, nil)
	require.NoError(t, err)
	response, err := client.Do(request)
	require.NoError(t, err)
	defer response.Body.Close()
	require.Equal(t, http.StatusOK, response.StatusCode)
	require.Contains(t, response.Header.Get("Content-Type"), "text/plain")
	found := map[string]string{}
	lines := bufio.NewScanner(response.Body)
	for lines.Scan() {
		if series, value, is := strings.Cut(lines.Text(), " "); is && !strings.HasPrefix(series, "#") {
			found[series] = value
		}
	}
	require.NoError(t, lines.Err())
	return found
}

// TestScrape runs the example on its own server and on another, and reads its figures until locks were granted. They
// have the names that the dashboard and the rules are checked by.
func TestScrape(t *testing.T) {
	for name, servers := range map[string]string{"own": "", "another": embedded.Run(t).Addr()} {
		t.Run(name, func(t *testing.T) {
			url, stop := start(t, settings{servers: servers, listen: "127.0.0.1:0", load: quick})
			const granted = `turnstile_lock_grants_total{turnstile_lock_mode="exclusive"}`
			var last map[string]string
			scene.Eventually(t, func() bool {
				last = scrape(t, url)
				return last[granted] != "" && last[granted] != "0" && last[`turnstile_lock_hold_duration_seconds_count{turnstile_lock_mode="exclusive",turnstile_lock_reason="released"}`] != ""
			}, "locks are granted and given back")
			require.Equal(t, "1", last[`turnstile_session_count{turnstile_session_state="connected"}`])
			require.Equal(t, "0", last[`turnstile_lock_losses_total{turnstile_lock_mode="exclusive",turnstile_lock_reason="lease_over"}`])
			names := exported(t)
			for series := range last {
				name, _, _ := strings.Cut(series, "{")
				require.True(t, name == "target_info" || names[name] != nil, "%s is in no list", name)
			}
			stop()
		})
	}
}

// TestPortTaken: it says which address it could not have, and leaves nothing running.
func TestPortTaken(t *testing.T) {
	err := run(t.Context(), settings{listen: "127.0.0.1:1:2", load: quick}, io.Discard)
	require.ErrorContains(t, err, "127.0.0.1:1:2")
}

// TestDeadServers: nobody answers there.
func TestDeadServers(t *testing.T) {
	ctx, cancel := context.WithTimeout(context.Background(), 300*time.Millisecond)
	defer cancel()
	err := run(ctx, settings{servers: "127.0.0.1:1", listen: "127.0.0.1:0", load: quick}, io.Discard)
	require.ErrorContains(t, err, "127.0.0.1:1")
}
