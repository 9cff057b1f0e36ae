package restarts

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"os/signal"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/turnstile-locks/turnstile/locks"
	"github.com/turnstile-locks/turnstile/tests/patient"
	"github.com/turnstile-locks/turnstile/tests/stories"
)

// restarterVariable makes TestRestarterInAProcess a process that holds a lock and is to be killed: a restarter in JSON.
const restarterVariable = "TURNSTILE_TEST_RESTARTER"

// restarter has the settings of such a process.
type restarter struct {
	Connect string
	Path    string // the lock path; "" takes no lock
	File    string // the session file; "" for none
	NoSpace bool   // nothing can be written to any file
}

// TestRestarterInAProcess is not a test but a process: it opens a client, tries the lock, says how that went, and
// closes when it gets a line. Before that it says what it logs of sessions and files.
func TestRestarterInAProcess(t *testing.T) {
	text := os.Getenv(restarterVariable)
	if text == "" {
		return
	}
	var r restarter
	require.NoError(t, json.Unmarshal([]byte(text), &r))
	if r.NoSpace {
		signal.Ignore(syscall.SIGXFSZ)
		var usual syscall.Rlimit
		require.NoError(t, syscall.Getrlimit(syscall.RLIMIT_FSIZE, &usual))
		require.NoError(t, syscall.Setrlimit(syscall.RLIMIT_FSIZE, &syscall.Rlimit{Max: usual.Max}))
		t.Cleanup(func() { // make cover has the process write what it has reached
			require.NoError(t, syscall.Setrlimit(syscall.RLIMIT_FSIZE, &usual))
		})
	}
	opts := []locks.Option{locks.WithSessionTimeout(patient.Session),
		locks.WithLogger(slog.New(sessionNews{slog.DiscardHandler}))}
	if r.File != "" {
		opts = append(opts, locks.WithSessionFile(r.File))
	}
	begin := time.Now()
	client, err := locks.Open(patient.Deadline(t), r.Connect, opts...)
	if err != nil {
		stories.Say("refused", errors.Is(err, locks.ErrSessionFileInUse), err)
		return
	}
	switch lease, err := tryLock(t, client, r.Path); {
	case errors.Is(err, locks.ErrNotAcquired):
		stories.Say(fmt.Sprintf("taken %#x", client.Session().ID()))
	case err != nil:
		stories.Say("failed", err)
	default:
		stories.Say(fmt.Sprintf("holds %#x %s %d", client.Session().ID(), node(lease), time.Since(begin).Microseconds()))
	}
	stories.AwaitGoOn(t)
	require.NoError(t, client.Close(context.Background()))
	stories.Say("closed")
}

func tryLock(t *testing.T, client *locks.Client, path string) (*locks.Lease, error) {
	if path == "" {
		return nil, nil
	}
	return client.Mutex(path).TryLock(patient.Deadline(t))
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
		line := "log " + r.Message
		r.Attrs(func(a slog.Attr) bool {
			if a.Key == "existed" || a.Key == "error" {
				line += fmt.Sprintf(" %s=%v", a.Key, a.Value)
			}
			return true
		})
		stories.Say(line)
	}
	return nil
}

// restarted is such a process as its test sees it.
type restarted struct {
	*stories.Process
	log []string // what it logged, as far as it was heard
}

func start(t testing.TB, r restarter) *restarted {
	t.Helper()
	text, err := json.Marshal(r)
	require.NoError(t, err)
	return &restarted{Process: stories.StartProcess(t, "TestRestarterInAProcess", restarterVariable, string(text))}
}

// hear waits for the words that the process says next, and keeps what it logs.
func (p *restarted) hear(t testing.TB) []string {
	t.Helper()
	for {
		text := p.Process.Hear(t)
		line, logged := strings.CutPrefix(text, "log ")
		if !logged {
			return strings.Fields(text)
		}
		p.log = append(p.log, line)
	}
}

// awaitLog waits until a line that it logs has a text: what is logged goes by a queue, so it may come behind what is said.
func (p *restarted) awaitLog(t testing.TB, text string) {
	t.Helper()
	for !strings.Contains(strings.Join(p.log, "\n"), text) {
		said := p.Process.Hear(t)
		line, logged := strings.CutPrefix(said, "log ")
		require.True(t, logged, "it says %q, and has not logged %q", said, text)
		p.log = append(p.log, line)
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
	p.GoOn(t)
	require.Equal(t, []string{"closed"}, p.hear(t))
	<-p.Exited()
	require.NoError(t, p.Err())
}
