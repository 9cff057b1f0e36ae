package restarts

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"os/signal"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/turnstile-locks/turnstile/locks"
	"github.com/turnstile-locks/turnstile/tests/rig"
	"github.com/turnstile-locks/turnstile/tests/scene"
)

// holderVariable makes TestHolderInAProcess a process that holds a lock and is to be killed: a holder in JSON.
const holderVariable = "TURNSTILE_TEST_HOLDER"

// holder has the settings of such a process.
type holder struct {
	Connect, Path string
	File          string        // the session file
	Key           string        // the reclaim key; "" for a lock that is only tried
	Timeout       time.Duration // of the session
	NoSpace       bool          // nothing can be written to any file
}

// TestHolderInAProcess is not a test but a process: it opens a client, locks, says what it holds with, and closes when it
// gets a line. It says what it logs of sessions and files.
func TestHolderInAProcess(t *testing.T) {
	text := os.Getenv(holderVariable)
	if text == "" {
		return
	}
	var h holder
	require.NoError(t, json.Unmarshal([]byte(text), &h))
	if h.NoSpace {
		signal.Ignore(syscall.SIGXFSZ)
		var usual syscall.Rlimit
		require.NoError(t, syscall.Getrlimit(syscall.RLIMIT_FSIZE, &usual))
		require.NoError(t, syscall.Setrlimit(syscall.RLIMIT_FSIZE, &syscall.Rlimit{Max: usual.Max}))
		t.Cleanup(func() { // make cover has the process write what it has reached
			require.NoError(t, syscall.Setrlimit(syscall.RLIMIT_FSIZE, &usual))
		})
	}
	client, err := locks.Open(scene.Deadline(t), h.Connect, locks.WithSessionTimeout(h.Timeout),
		locks.WithSessionFile(h.File), locks.WithLogger(slog.New(sessionNews{slog.DiscardHandler})))
	if err != nil {
		scene.Say("refused", errors.Is(err, locks.ErrSessionFileInUse))
		return
	}
	lock := client.Mutex(h.Path, locks.WithReclaim(h.Key)).Lock
	if h.Key == "" {
		lock = client.Mutex(h.Path).TryLock
	}
	lease, err := lock(scene.Deadline(t))
	if err != nil {
		scene.Say("failed", err)
		return
	}
	scene.Say("holds", int64(lease.Token()), lease.Node(), lease.Session(), lease.Valid())
	scene.AwaitGoOn(t)
	require.NoError(t, client.Close(context.Background()))
	scene.Say("closed")
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
		scene.Say(line)
	}
	return nil
}

// process is such a process as its test sees it.
type process struct {
	*scene.Process
	log []string // what it logged, as far as it was heard
}

func (h holder) start(t *testing.T) *process {
	t.Helper()
	text, err := json.Marshal(h)
	require.NoError(t, err)
	return &process{Process: scene.StartProcess(t, "TestHolderInAProcess", holderVariable, string(text))}
}

// hear waits for what the process says next, and keeps what it logs.
func (p *process) hear(t *testing.T) string {
	t.Helper()
	for {
		text := p.Process.Hear(t)
		line, logged := strings.CutPrefix(text, "log ")
		if !logged {
			return text
		}
		p.log = append(p.log, line)
	}
}

// awaitLog waits until a line that it logs has a text: what is logged goes by a queue, so it may come behind what is said.
func (p *process) awaitLog(t *testing.T, text string) {
	t.Helper()
	for !strings.Contains(strings.Join(p.log, "\n"), text) {
		line, logged := strings.CutPrefix(p.Process.Hear(t), "log ")
		require.True(t, logged, "it has not logged %q", text)
		p.log = append(p.log, line)
	}
}

// grant is the grant of a process.
type grant struct {
	token   locks.Token
	node    string
	session int64
}

// holds waits until the process holds, with a valid lease.
func (p *process) holds(t *testing.T) (g grant) {
	t.Helper()
	var valid bool
	line := p.hear(t)
	_, err := fmt.Sscanf(line, "holds %d %s %d %t", &g.token, &g.node, &g.session, &valid)
	require.NoError(t, err, line)
	require.True(t, valid)
	return g
}

// close has the process close its client, and waits for its end.
func (p *process) close(t *testing.T) {
	t.Helper()
	p.GoOn(t)
	require.Equal(t, "closed", p.hear(t))
	<-p.Exited()
	require.NoError(t, p.Err())
}

func sessionFile(t *testing.T) string { return filepath.Join(t.TempDir(), "session") }

func readFile(t *testing.T, path string) string {
	t.Helper()
	text, err := os.ReadFile(path)
	require.NoError(t, err)
	return string(text)
}

// closedPredecessor is the log line of a process that has closed the session of its predecessor, which a server still
// knew: the proof that nothing had to expire.
const closedPredecessor = "session of the predecessor closed existed=true"

// TestRestartedHolderHoldsAtOnce: the holder is killed and started again, several times. The next one holds as soon as it
// is open, by trying once. The session goes on where the disk is full, and the log tells; the one that was in the file is
// closed all the same.
func TestRestartedHolderHoldsAtOnce(t *testing.T) {
	scene.EachServer(t, func(t *testing.T, at *scene.Servers) {
		h := holder{Connect: at.Connect(), Path: "/restart", File: sessionFile(t), Timeout: scene.Session}
		looking := at.Raw(t)
		p := h.start(t)
		last := p.holds(t)
		for i := range 3 {
			require.NoError(t, p.Kill())
			require.Equal(t, []string{last.node}, at.Children(t, looking, h.Path), "the dead holder's node")
			h.NoSpace = i == 2
			p = h.start(t)
			next := p.holds(t)
			p.awaitLog(t, closedPredecessor)
			require.NotEqual(t, last.session, next.session)
			require.Equal(t, []string{next.node}, at.Children(t, looking, h.Path))
			if !h.NoSpace {
				require.Len(t, p.log, 1)
			}
			last = next
		}
		p.awaitLog(t, "session file not written")
		p.awaitLog(t, h.File)
		p.close(t)
		scene.AwaitNone(t, at, h.Path)
		require.Empty(t, readFile(t, h.File), "what needs no space is done")
	})
}

// TestSessionFileOfALivingProcessIsRefused: a second process is refused while the first lives, also one that is stopped. The
// first keeps its session and its lock.
func TestSessionFileOfALivingProcessIsRefused(t *testing.T) {
	scene.EachServer(t, func(t *testing.T, at *scene.Servers) {
		h := holder{Connect: at.Connect(), Path: "/alive", File: sessionFile(t), Key: "me", Timeout: scene.Session}
		p := h.start(t)
		held := p.holds(t)
		refused := func() {
			require.Equal(t, "refused true", h.start(t).hear(t))
			_, err := locks.Open(scene.Deadline(t), at.Connect(), locks.WithSessionFile(h.File))
			require.ErrorIs(t, err, locks.ErrSessionFileInUse)
			require.ErrorContains(t, err, h.File)
			require.Equal(t, []string{held.node}, at.Children(t, at.Raw(t), "/alive"))
		}
		refused()
		require.NoError(t, p.Pause())
		refused()
		require.NoError(t, p.Resume())
		require.Contains(t, readFile(t, h.File), hex(held.session))
		p.close(t)

		first := at.Open(t, locks.WithSessionFile(h.File))
		_, err := locks.Open(scene.Deadline(t), at.Connect(), locks.WithSessionFile(h.File))
		require.ErrorIs(t, err, locks.ErrSessionFileInUse, "in the same process")
		require.NoError(t, first.Session().Err())
		require.NoError(t, first.Close(scene.Deadline(t)))
		at.Open(t, locks.WithSessionFile(h.File))
	})
}

// TestReclaim: a holder is killed and started again, several times, while somebody waits. Each
// holds at the place of the one before, with a greater token and in another session. The waiter
// holds when the last gives back, and has a greater token than all.
func TestReclaim(t *testing.T) {
	scene.EachServer(t, func(t *testing.T, at *scene.Servers) {
		h := holder{Connect: at.Connect(), Path: reclaimed, File: sessionFile(t), Key: "me", Timeout: scene.Session}
		p := h.start(t)
		last, client, conn := p.holds(t), at.Open(t), at.Raw(t)
		waits := scene.Elsewhere(scene.Deadline(t), client.Mutex(reclaimed).Lock)
		scene.AwaitCount(t, at, reclaimed, 2)
		number := func(node string) string { return node[strings.LastIndexByte(node, '-'):] }
		for range 3 {
			require.NoError(t, p.Kill())
			p = h.start(t)
			next := p.holds(t)
			require.Greater(t, next.token, last.token)
			require.NotEqual(t, last.session, next.session)
			require.Equal(t, number(last.node), number(next.node))
			require.Len(t, at.Children(t, conn, reclaimed), 2)
			queue := scene.QueueOf(t, client, reclaimed)
			require.Equal(t, next.node, queue[0].Node)
			require.Equal(t, []string{next.node}, queue[1].WaitsFor)
			require.Empty(t, waits, "nobody else has held")
			last = next
		}
		p.close(t)
		a := scene.Receive(t, waits)
		require.NoError(t, a.Err)
		require.Greater(t, a.Lease.Token(), last.token)
		scene.GiveBack(t, a.Lease)
		require.Empty(t, readFile(t, h.File))

		p = h.start(t) // there is nothing to reclaim
		require.Greater(t, p.holds(t).token, a.Lease.Token())
		p.close(t)
	})
}

// TestRealSuccessorOfARestoredServer: a holder is killed, and its server is restored from a backup in which it held: its
// session and its node are there again. Its successor closes that session, or takes the node back.
func TestRealSuccessorOfARestoredServer(t *testing.T) {
	rig.Require(t)
	for _, key := range []string{"", "me"} {
		t.Run(key, func(t *testing.T) {
			t.Parallel()
			server, backup := rig.StartStandalone(t), filepath.Join(t.TempDir(), "backup")
			h := holder{Connect: server.Addr(), Path: "/successor", File: sessionFile(t), Key: key, Timeout: restoredSession}
			p := h.start(t)
			last := p.holds(t)
			require.NoError(t, p.Kill())
			require.NoError(t, server.Kill())
			require.NoError(t, server.Backup(backup))
			require.NoError(t, server.Restore(scene.Deadline(t), backup))
			p = h.start(t)
			require.NotEqual(t, last.session, p.holds(t).session)
			p.close(t)
		})
	}
}
