package tests

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"os"
	"os/exec"
	"os/signal"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/turnstile-locks/turnstile/locks"
	"github.com/turnstile-locks/turnstile/tests/child"
)

// restarterVariable makes TestRestarterInAProcess a process that holds a lock and is to be killed: a restarter in JSON.
const restarterVariable = "TURNSTILE_TEST_RESTARTER"

// restarter is what such a process is told.
type restarter struct {
	Connect string
	Path    string // the lock path; "" takes no lock
	File    string // the session file; "" for none
	NoSpace bool   // nothing can be written to any file
}

// TestRestarterInAProcess is not a test but a process: it opens a client, tries the lock, says how that went, and closes
// when it gets a line. What it logs of sessions and files it says too, before the rest.
func TestRestarterInAProcess(t *testing.T) {
	text := os.Getenv(restarterVariable)
	if text == "" {
		return
	}
	var r restarter
	require.NoError(t, json.Unmarshal([]byte(text), &r))
	if r.NoSpace {
		signal.Ignore(syscall.SIGXFSZ)
		require.NoError(t, syscall.Setrlimit(syscall.RLIMIT_FSIZE, &syscall.Rlimit{}))
	}
	opts := []locks.Option{locks.WithSessionTimeout(long), locks.WithLogger(slog.New(sessionNews{slog.DiscardHandler}))}
	if r.File != "" {
		opts = append(opts, locks.WithSessionFile(r.File))
	}
	begin := time.Now()
	client, err := locks.Open(deadline(t), r.Connect, opts...)
	if err != nil {
		fmt.Println("said: refused", errors.Is(err, locks.ErrSessionFileInUse), err)
		return
	}
	switch lease, err := tryLock(t, client, r.Path); {
	case errors.Is(err, locks.ErrNotAcquired):
		fmt.Printf("said: taken %#x\n", client.Session().ID())
	case err != nil:
		fmt.Println("said: failed", err)
	default:
		fmt.Printf("said: holds %#x %s %d\n", client.Session().ID(), node(lease), time.Since(begin).Microseconds())
	}
	_, err = bufio.NewReader(os.Stdin).ReadString('\n')
	require.NoError(t, err)
	require.NoError(t, client.Close(context.Background()))
	fmt.Println("said: closed")
}

func tryLock(t *testing.T, client *locks.Client, path string) (*locks.Lease, error) {
	if path == "" {
		return nil, nil
	}
	return client.Mutex(path).TryLock(deadline(t))
}

func node(lease *locks.Lease) string {
	if lease == nil {
		return "nothing"
	}
	return lease.Node()
}

// sessionNews says what is logged of the predecessor's session and of the session file.
type sessionNews struct{ slog.Handler }

func (sessionNews) Enabled(context.Context, slog.Level) bool { return true }
func (h sessionNews) WithAttrs([]slog.Attr) slog.Handler     { return h }
func (sessionNews) Handle(_ context.Context, r slog.Record) error {
	if strings.HasPrefix(r.Message, "session of the predecessor") || strings.HasPrefix(r.Message, "session file") {
		line := "said: log " + r.Message
		r.Attrs(func(a slog.Attr) bool {
			if a.Key == "existed" || a.Key == "error" {
				line += fmt.Sprintf(" %s=%v", a.Key, a.Value)
			}
			return true
		})
		fmt.Println(line)
	}
	return nil
}

// restarted is such a process as its test sees it.
type restarted struct {
	*child.Process
	in   io.WriteCloser
	said <-chan string // what it says, a line each; closed with its output
	log  []string      // what it logged, as far as it was heard
}

func start(t testing.TB, r restarter) *restarted {
	t.Helper()
	text, err := json.Marshal(r)
	require.NoError(t, err)
	cmd := exec.Command(os.Args[0], "-test.run", "^TestRestarterInAProcess$")
	cmd.Env = append(os.Environ(), restarterVariable+"="+string(text),
		// The race detector keeps a process that ends for a second otherwise.
		"GORACE="+os.Getenv("GORACE")+" atexit_sleep_ms=0")
	cmd.Stderr = os.Stderr
	in, err := cmd.StdinPipe()
	require.NoError(t, err)
	out, writer, err := os.Pipe()
	require.NoError(t, err)
	cmd.Stdout = writer
	said := make(chan string, 100)
	p := &restarted{in: in, said: said}
	p.Process, err = child.Start(cmd, func() { _ = writer.Close() })
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, p.Kill()) })
	go func() {
		defer close(said)
		defer func() { _ = out.Close() }()
		for lines := bufio.NewScanner(out); lines.Scan(); {
			if text, ok := strings.CutPrefix(lines.Text(), "said: "); ok {
				said <- text
			}
		}
	}()
	return p
}

// hear waits for what the process says next, and keeps what it logs.
func (p *restarted) hear(t testing.TB) []string {
	t.Helper()
	patience := time.After(bound)
	for {
		select {
		case text, ok := <-p.said:
			require.True(t, ok, "the process has ended without a word")
			if line, logged := strings.CutPrefix(text, "log "); logged {
				p.log = append(p.log, line)
				continue
			}
			return strings.Fields(text)
		case <-patience:
			t.Fatal("the process says nothing")
		}
	}
}

// holds waits until the process has the lock, and gives its session, its node and the time since it began to open.
func (p *restarted) holds(t testing.TB) (session, node string, took time.Duration) {
	t.Helper()
	words := p.hear(t)
	require.Equal(t, "holds", words[0], "%v", words)
	var micros int64
	_, err := fmt.Sscan(words[3], &micros)
	require.NoError(t, err)
	return words[1], words[2], time.Duration(micros) * time.Microsecond
}

// close has the process close its client.
func (p *restarted) close(t testing.TB) {
	t.Helper()
	_, err := p.in.Write([]byte("go on\n"))
	require.NoError(t, err)
	require.Equal(t, []string{"closed"}, p.hear(t))
	<-p.Exited()
	require.NoError(t, p.Err())
}
