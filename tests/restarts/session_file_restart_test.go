package restarts

import (
	"errors"
	"path/filepath"
	"slices"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/turnstile-locks/turnstile/locks"
	"github.com/turnstile-locks/turnstile/tests/patient"
	"github.com/turnstile-locks/turnstile/tests/stories"
)

// closedPredecessor is the log line of a process that has closed the session of its predecessor, which a server still
// knew: the proof that nothing had to expire.
const closedPredecessor = "session of the predecessor closed existed=true"

func sessionFile(t testing.TB) string { return filepath.Join(t.TempDir(), "session") }

// The holder is killed and started again, several times: the next one holds as soon as it is open, by trying once.
func TestRestartedHolderHoldsAtOnce(t *testing.T) {
	stories.EachServerAlone(t, func(t *testing.T, at *stories.Servers) {
		r := restarter{Connect: at.Connect(), Path: "/restart", File: sessionFile(t)}
		looking := at.Raw(t)
		p := start(t, r)
		session, held, _ := p.holds(t)
		var open, whole []time.Duration
		for range 5 {
			require.Equal(t, []string{held}, at.Children(t, looking, "/restart"))
			require.NoError(t, p.Kill())
			require.Equal(t, []string{held}, at.Children(t, looking, "/restart"), "the dead holder's node")

			started := time.Now()
			p = start(t, r)
			next, node, took := p.holds(t)
			open, whole = append(open, took), append(whole, time.Since(started))
			p.awaitLog(t, closedPredecessor)
			require.Len(t, p.log, 1)
			require.NotEqual(t, session, next)
			require.NotEqual(t, held, node)
			session, held = next, node
		}
		t.Logf("ms from the opening to the lock: median %s, all %s; from the start of the process: median %s, all %s",
			millis(middle(open)), millis(open...), millis(middle(whole)), millis(whole...))
		require.Equal(t, []string{held}, at.Children(t, looking, "/restart"))
		p.close(t)
		stories.AwaitNone(t, at, "/restart")
	})
}

func middle(all []time.Duration) time.Duration {
	return slices.Sorted(slices.Values(all))[len(all)/2]
}

func millis(all ...time.Duration) (text string) {
	for _, d := range all {
		text += " " + d.Round(100*time.Microsecond).String()
	}
	return text
}

// Without the option, and with another file, the dead holder's node stays where it is.
func TestRestartedHolderWithoutTheFileFindsItTaken(t *testing.T) {
	stories.EachServerAlone(t, func(t *testing.T, at *stories.Servers) {
		p := start(t, restarter{Connect: at.Connect(), Path: "/restart", File: sessionFile(t)})
		_, held, _ := p.holds(t)
		require.NoError(t, p.Kill())
		for _, file := range []string{"", sessionFile(t)} {
			next := start(t, restarter{Connect: at.Connect(), Path: "/restart", File: file})
			require.Equal(t, "taken", next.hear(t)[0])
			require.Equal(t, []string{held}, at.Children(t, at.Raw(t), "/restart"))
			next.close(t)
			require.Empty(t, next.log)
		}
	})
}

// Somebody in another process waits behind the dead holder: it holds once the restarted process is open.
func TestWaiterElsewhereHoldsAtTheRestart(t *testing.T) {
	stories.EachServerAlone(t, func(t *testing.T, at *stories.Servers) {
		file := sessionFile(t)
		p := start(t, restarter{Connect: at.Connect(), Path: "/restart", File: file})
		p.holds(t)
		got := patient.Elsewhere(patient.Deadline(t), at.Open(t).Mutex("/restart").Lock)
		stories.AwaitCount(t, at, "/restart", 2)
		require.NoError(t, p.Kill())
		select {
		case a := <-got:
			t.Fatalf("nobody has started it again: %v", a)
		default:
		}
		p = start(t, restarter{Connect: at.Connect(), File: file})
		p.holds(t)
		p.awaitLog(t, closedPredecessor)
		require.Len(t, p.log, 1)
		a := patient.Receive(t, got)
		require.NoError(t, a.Err)
		patient.GiveBack(t, a.Lease)
	})
}

// A second one is refused while the first lives, also one that is stopped; the first keeps its session and its lock.
func TestSessionFileOfALivingProcessIsRefused(t *testing.T) {
	stories.EachServerAlone(t, func(t *testing.T, at *stories.Servers) {
		r := restarter{Connect: at.Connect(), Path: "/alive", File: sessionFile(t)}
		p := start(t, r)
		session, held, _ := p.holds(t)
		refused := func() {
			second := start(t, r)
			require.Equal(t, []string{"refused", "true"}, second.hear(t)[:2])
			_, err := locks.Open(patient.Deadline(t), at.Connect(), locks.WithSessionFile(r.File))
			require.ErrorIs(t, err, locks.ErrSessionFileInUse)
			require.ErrorContains(t, err, r.File)
			require.Equal(t, []string{held}, at.Children(t, at.Raw(t), "/alive"))
		}
		refused()
		require.NoError(t, p.Pause())
		refused()
		require.NoError(t, p.Resume())
		require.Contains(t, readFile(t, r.File), session)
		p.close(t)

		first := at.Open(t, locks.WithSessionFile(r.File))
		_, err := locks.Open(patient.Deadline(t), at.Connect(), locks.WithSessionFile(r.File))
		require.ErrorIs(t, err, locks.ErrSessionFileInUse, "in the same process")
		require.False(t, errors.Is(first.Session().Err(), locks.ErrClosed))
		require.NoError(t, first.Close(patient.Deadline(t)))
		at.Open(t, locks.WithSessionFile(r.File))
	})
}
