package restarts

import (
	"context"
	"fmt"
	"os"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/turnstile-locks/turnstile/locks"
	"github.com/turnstile-locks/turnstile/tests/patient"
	"github.com/turnstile-locks/turnstile/tests/rig"
	"github.com/turnstile-locks/turnstile/tests/stories"
	"github.com/turnstile-locks/turnstile/zkconn/sessionfile"
)

func readFile(t *testing.T, path string) string {
	t.Helper()
	text, err := os.ReadFile(path)
	require.NoError(t, err)
	return string(text)
}

// left gives the sessions that nobody has closed, of a file that nobody uses.
func left(t *testing.T, path string) []sessionfile.Record {
	t.Helper()
	file, err := sessionfile.Open(path)
	require.NoError(t, err)
	defer file.Close()
	return file.Left()
}

// leave writes a file as a process leaves it that dies.
func leave(t *testing.T, path string, records ...sessionfile.Record) {
	t.Helper()
	file, err := sessionfile.Open(path)
	require.NoError(t, err)
	defer file.Close()
	require.NoError(t, file.Write(records))
}

// abandoned gives a session as a process leaves it that dies, and a node that it holds a lock with.
func abandoned(t *testing.T, at *stories.Servers, path string) (record sessionfile.Record, held string) {
	t.Helper()
	file := sessionFile(t)
	p := start(t, restarter{Connect: at.Connect(), Path: path, File: file})
	_, held, _ = p.holds(t)
	require.NoError(t, p.Kill())
	all := left(t, file)
	require.Len(t, all, 1)
	require.Equal(t, at.Connect(), all[0].Connect)
	require.Equal(t, patient.Session, all[0].Timeout)
	return all[0], held
}

// An orderly end leaves nothing to close; one that no server has heard of does.
func TestCloseEmptiesTheSessionFile(t *testing.T) {
	stories.EachServer(t, func(t *testing.T, at *stories.Servers) {
		path := sessionFile(t)
		client := at.Open(t, locks.WithSessionFile(path))
		require.Contains(t, readFile(t, path), fmt.Sprintf("%#x", client.Session().ID()), "when it is open it is there")
		require.NoError(t, client.Close(patient.Deadline(t)))
		require.Empty(t, readFile(t, path))

		proxy := at.Proxy(t)
		client = patient.Open(t, proxy.Addr()+at.Root(), locks.WithSessionFile(path))
		patient.Locked(t, client.Mutex("/cut").Lock)
		proxy.Refuse(true)
		proxy.Cut()
		require.ErrorIs(t, client.Close(context.WithoutCancel(patient.Deadline(t))), locks.ErrSessionRemains)
		require.Contains(t, readFile(t, path), fmt.Sprintf("%#x", client.Session().ID()), "the session lives on")
		require.Len(t, at.Children(t, at.Raw(t), "/cut"), 1)

		proxy.Refuse(false)
		log, logger := stories.NewLog()
		lease := patient.Locked(t, at.Open(t, locks.WithSessionFile(path),
			logger).Mutex("/cut").TryLock)
		log.Await(t, "existed=true")
		patient.GiveBack(t, lease)
	})
}

// Every session that one client has after the other is in the file.
func TestSessionFileHoldsTheNewestSession(t *testing.T) {
	stories.EachServer(t, func(t *testing.T, at *stories.Servers) {
		path := sessionFile(t)
		proxy := at.Proxy(t)
		client := patient.Open(t, proxy.Addr()+at.Root(), locks.WithSessionFile(path))
		before := readFile(t, path)
		for range 2 {
			id, password, ok := proxy.Session()
			require.True(t, ok)
			require.Contains(t, before, fmt.Sprintf("%#x", id))
			proxy.Refuse(true)
			require.NoError(t, rig.ExpireSession(patient.Deadline(t), at.Members[0].Addr(), id, password))
			proxy.Refuse(false)
			patient.Eventually(t, func() bool { return client.Session().ID() != 0 && client.Session().ID() != id },
				"no new session")
			next := fmt.Sprintf("%#x", client.Session().ID())
			patient.Eventually(t, func() bool { return strings.Contains(readFile(t, path), next) },
				"%s is not in the file", next)
			require.NotContains(t, readFile(t, path), fmt.Sprintf("%#x", id))
			before = readFile(t, path)
		}
	})
}

// The disk is full: the session goes on, and the log tells. The session that was in the file is closed
// all the same.
func TestSessionFileCannotBeWritten(t *testing.T) {
	stories.EachServer(t, func(t *testing.T, at *stories.Servers) {
		path := sessionFile(t)
		r := restarter{Connect: at.Connect(), Path: "/full", File: path}
		p := start(t, r)
		p.holds(t)
		require.NoError(t, p.Kill())
		r.NoSpace = true
		p = start(t, r)
		p.holds(t)
		p.awaitLog(t, closedPredecessor)
		p.awaitLog(t, "session file not written")
		p.awaitLog(t, path)
		p.close(t)
		require.Empty(t, readFile(t, path), "what needs no space is done")
	})
}
