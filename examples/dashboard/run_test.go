package main

import (
	"bufio"
	"context"
	"encoding/json"
	"io"
	"net"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"go.uber.org/goleak"

	"github.com/turnstile-locks/turnstile/locks"
	"github.com/turnstile-locks/turnstile/tests/scene"
	"github.com/turnstile-locks/turnstile/zkconn/embedded"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// TestDemo runs the command as a stranger would: it says where the page is, the page has locks at once, and it ends
// when it is told to, also with a page open.
func TestDemo(t *testing.T) {
	s, err := parse([]string{"-demo", "-listen", "127.0.0.1:0", "-crowd", "200"}, environment(nil), io.Discard)
	require.NoError(t, err)
	ctx, stop := context.WithCancel(scene.Deadline(t))
	defer stop()
	out, in := io.Pipe()
	ended := make(chan error, 1)
	go func() { ended <- run(ctx, s, in, io.Discard); in.Close() }()
	said := bufio.NewScanner(out)
	address := ""
	for address == "" && said.Scan() {
		address, _ = strings.CutPrefix(said.Text(), "dashboard: ")
		if !strings.HasPrefix(address, "http://") {
			address = ""
		}
	}
	require.NotEmpty(t, address)
	go func() { _, _ = io.Copy(io.Discard, out) }()

	request, err := http.NewRequestWithContext(ctx, http.MethodGet, address+"events", nil)
	require.NoError(t, err)
	client := &http.Client{Transport: &http.Transport{}}
	response, err := client.Do(request)
	require.NoError(t, err)
	defer response.Body.Close()
	lines := bufio.NewScanner(response.Body)
	lines.Buffer(nil, 1<<20)
	for locks := 0; locks < 8; {
		require.True(t, lines.Scan(), "the stream ends before there are locks: %v", lines.Err())
		data, is := strings.CutPrefix(lines.Text(), "data: ")
		if !is {
			continue
		}
		var message struct {
			Figures struct{ Locks int }
		}
		require.NoError(t, json.Unmarshal([]byte(data), &message))
		locks = max(locks, message.Figures.Locks)
	}
	stop()
	require.NoError(t, <-ended)
	client.CloseIdleConnections()
}

// TestMissingRootIsTold: a page without locks looks the same for a root, or a chroot, that was mistyped. The command says so.
func TestMissingRootIsTold(t *testing.T) {
	server := embedded.Run(t)
	require.NoError(t, locks.Do(scene.Deadline(t), scene.Open(t, server.Addr()).Mutex("/app/orders"),
		func(context.Context, locks.Token) error { return nil }))
	for _, c := range []struct{ zk, root, says string }{
		{server.Addr() + "/wrong", "/", "the chroot of -zk does not exist"},
		{server.Addr(), "/wrong/orders", "/wrong does not exist"},
	} {
		s, err := parse([]string{"-zk", c.zk, "-root", c.root, "-listen", "127.0.0.1:0"}, environment(nil), io.Discard)
		require.NoError(t, err)
		ctx, stop := context.WithCancel(scene.Deadline(t))
		out, in := io.Pipe()
		ended := make(chan error, 1)
		go func() { ended <- run(ctx, s, in, io.Discard); in.Close() }()
		said := bufio.NewScanner(out)
		told := ""
		for said.Scan() {
			if told = said.Text(); strings.Contains(told, "does not exist") {
				break
			}
		}
		require.Contains(t, told, c.says)
		go func() { _, _ = io.Copy(io.Discard, out) }()
		stop()
		require.NoError(t, <-ended)
	}
}

// beingWritten is an out that takes its time over one line: it is stopped in it, and looks whether run has returned.
type beingWritten struct {
	line     string
	stop     func()
	returned chan error // of run
	early    bool       // run has returned before the line was written
}

func (w *beingWritten) Write(text []byte) (int, error) {
	if strings.Contains(string(text), w.line) {
		w.stop()
		select {
		case err := <-w.returned:
			w.early = true
			w.returned <- err
		case <-time.After(time.Second):
		}
	}
	return len(text), nil
}

// TestNothingIsWrittenAfterTheEnd: the line on a missing root is written beside the page. run waits for it, so its caller
// may read what it has written, and close it.
func TestNothingIsWrittenAfterTheEnd(t *testing.T) {
	server := embedded.Run(t)
	s, err := parse([]string{"-zk", server.Addr(), "-root", "/wrong", "-listen", "127.0.0.1:0"}, environment(nil), io.Discard)
	require.NoError(t, err)
	ctx, stop := context.WithCancel(scene.Deadline(t))
	defer stop()
	out := &beingWritten{line: "does not exist", stop: stop, returned: make(chan error, 1)}
	go func() { out.returned <- run(ctx, s, out, io.Discard) }()
	<-ctx.Done()
	require.NoError(t, <-out.returned)
	require.False(t, out.early)
}

// TestAddressTaken: it says which address it could not have.
func TestAddressTaken(t *testing.T) {
	taken, err := net.Listen("tcp", "127.0.0.1:0")
	require.NoError(t, err)
	defer taken.Close()
	s, err := parse([]string{"-demo", "-listen", taken.Addr().String()}, environment(nil), io.Discard)
	require.NoError(t, err)
	err = run(scene.Deadline(t), s, io.Discard, io.Discard)
	require.ErrorContains(t, err, taken.Addr().String())
}
