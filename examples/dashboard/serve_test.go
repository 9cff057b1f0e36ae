package main

import (
	"bufio"
	"context"
	"fmt"
	"io"
	"log/slog"
	"net"
	"net/http"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/turnstile-locks/turnstile/examples/dashboard/board"
	"github.com/turnstile-locks/turnstile/examples/dashboard/web"
	"github.com/turnstile-locks/turnstile/locks"
	"github.com/turnstile-locks/turnstile/messages"
	"github.com/turnstile-locks/turnstile/tests/scene"
)

// free is a client of locks that nobody holds.
type free struct{}

func (free) Queue(context.Context, string) ([]messages.Contender, error) { return nil, nil }
func (free) Revoke(context.Context, string) ([]messages.Contender, error) {
	return nil, locks.ErrNotHolding
}

// short are limits that a test can wait out. A write may take less time than passes between two messages of a stream in
// which nothing changes, 3 s. A read may take more, for a machine that stalls before the whole request has been read.
var short = limits{header: scene.Bound, read: 6 * time.Second, write: 2 * time.Second, idle: scene.Bound}

const secret = "0123456789abcdef"

// dial starts to serve, and gives a connection to it.
func dial(t *testing.T, l limits) net.Conn {
	t.Helper()
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	require.NoError(t, err)
	log := slog.New(slog.DiscardHandler)
	dashboard := web.New(web.Settings{Board: board.New("/"), Client: free{}, Root: "/", Open: func(string) func() { return func() {} },
		Token: secret, Log: log})
	ctx, stop := context.WithCancel(t.Context())
	ended := make(chan error, 1)
	go func() { ended <- serve(ctx, listener, dashboard, l, log) }()
	t.Cleanup(func() { stop(); require.NoError(t, <-ended) })
	conn, err := net.Dial("tcp", listener.Addr().String())
	require.NoError(t, err)
	t.Cleanup(func() { conn.Close() })
	require.NoError(t, conn.SetDeadline(time.Now().Add(scene.Bound)))
	return conn
}

// TestStreamOutlivesTheLimits: a page is followed for longer than a request may take to be read and answered.
func TestStreamOutlivesTheLimits(t *testing.T) {
	for _, path := range []string{"/events", "/events/lock?path=/lock"} {
		t.Run(path, func(t *testing.T) {
			t.Parallel()
			conn := dial(t, short)
			began := time.Now()
			fmt.Fprintf(conn, "GET %s HTTP/1.1\r\nHost: localhost\r\n\r\n", path)
			response, err := http.ReadResponse(bufio.NewReader(conn), nil)
			require.NoError(t, err)
			defer response.Body.Close()
			defer conn.Close() // before the body, of which the rest would be waited for
			require.Equal(t, http.StatusOK, response.StatusCode)
			lines := bufio.NewScanner(response.Body)
			for messages := 0; messages < 3 || time.Since(began) < 2*short.read; {
				require.True(t, lines.Scan(), "the stream ends after %v: %v", time.Since(began), lines.Err())
				if strings.HasPrefix(lines.Text(), "data: ") {
					messages++
				}
			}
		})
	}
}

// TestBodyThatNeverEnds: a client that announces more than it sends is let go, at every address.
func TestBodyThatNeverEnds(t *testing.T) {
	const order = "POST /revoke HTTP/1.1\r\nContent-Type: application/json\r\nAuthorization: Bearer "
	for name, request := range map[string]string{
		"a page":                         "GET / HTTP/1.1\r\n",
		"a stream":                       "GET /events HTTP/1.1\r\n",
		"an order without a token":       order + "wrong\r\n",
		"an order that is cut short":     order + secret + "\r\n",
		"an order with more behind it":   order + secret + "\r\nX-Whole: 1\r\n",
		"a page in pieces without end":   "GET / HTTP/1.1\r\nTransfer-Encoding: chunked\r\n",
		"an order in pieces without end": order + secret + "\r\nTransfer-Encoding: chunked\r\n",
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			conn := dial(t, short)
			body := `{"path":`
			if strings.Contains(request, "X-Whole") {
				body = `{"path":"/lock"}`
			}
			if strings.Contains(request, "chunked") {
				body = fmt.Sprintf("%x\r\n%s\r\n", len(body), body)
			} else {
				request += "Content-Length: 1000\r\n"
			}
			fmt.Fprintf(conn, "%sHost: localhost\r\n\r\n%s", request, body)
			answer, err := io.ReadAll(conn)
			require.NotErrorIs(t, err, os.ErrDeadlineExceeded, "the connection is kept open: %q", answer)
		})
	}
}
