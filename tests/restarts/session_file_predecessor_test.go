package restarts

import (
	"context"
	"errors"
	"net"
	"os"
	"regexp"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/turnstile-locks/turnstile/locks"
	"github.com/turnstile-locks/turnstile/tests/bubble"
	"github.com/turnstile-locks/turnstile/tests/patient"
	"github.com/turnstile-locks/turnstile/tests/relists"
	"github.com/turnstile-locks/turnstile/tests/rig"
	"github.com/turnstile-locks/turnstile/tests/stories"
	"github.com/turnstile-locks/turnstile/zkconn/sessionfile"
)

// Several restarts in a row, none of which could close anything, leave several sessions.
func TestAllSessionsThatWereLeftAreClosed(t *testing.T) {
	stories.EachServer(t, func(t *testing.T, at *stories.Servers) {
		one, _ := abandoned(t, at, "/one")
		two, _ := abandoned(t, at, "/two")
		unusable := sessionfile.Record{Session: 1, Password: []byte("x"), Timeout: time.Second, Connect: "no:port:at:all"}
		path := sessionFile(t)
		leave(t, path, one, unusable, two)
		log, logger := stories.NewLog()
		client := at.Open(t, locks.WithSessionFile(path), logger)
		for _, p := range []string{"/one", "/two"} {
			lease := patient.Locked(t, client.Mutex(p).TryLock)
			patient.GiveBack(t, lease)
		}
		log.Await(t, "bad configuration")
		require.NoError(t, client.Close(patient.Deadline(t)))
		require.Empty(t, readFile(t, path))
	})
}

// The predecessor's session has expired, or the password is wrong: that is no error.
func TestSessionOfThePredecessorIsOver(t *testing.T) {
	stories.EachServer(t, func(t *testing.T, at *stories.Servers) {
		record, held := abandoned(t, at, "/over")
		path := sessionFile(t)
		wrong := record
		wrong.Password = []byte("0123456789abcdef")
		leave(t, path, wrong)
		log, logger := stories.NewLog()
		client := at.Open(t, locks.WithSessionFile(path), logger)
		log.Await(t, "existed=false")
		_, err := client.Mutex("/over").TryLock(patient.Deadline(t))
		require.ErrorIs(t, err, locks.ErrNotAcquired)
		require.Equal(t, []string{held}, at.Children(t, at.Raw(t), "/over"), "a stranger's session is not closed")
		require.NoError(t, client.Close(patient.Deadline(t)))

		require.NoError(t, rig.ExpireSession(patient.Deadline(t), at.Members[0].Addr(), record.Session, record.Password))
		leave(t, path, record)
		log, logger = stories.NewLog()
		lease := patient.Locked(t, at.Open(t, locks.WithSessionFile(path),
			logger).Mutex("/over").TryLock)
		log.Await(t, "existed=false")
		patient.GiveBack(t, lease)
	})
}

// The servers cannot be reached when the process starts again: what the predecessor held is free when they can be.
func TestServersAreDownAtTheRestart(t *testing.T) {
	stories.EachServer(t, func(t *testing.T, at *stories.Servers) {
		proxy := at.Proxy(t)
		path := sessionFile(t)
		connect := stories.DeadAddress(t) + "," + proxy.Addr() + at.Root()
		p := start(t, restarter{Connect: connect, Path: "/down", File: path})
		p.holds(t)
		require.NoError(t, p.Kill())
		proxy.Refuse(true)
		ctx, cancel := context.WithTimeout(patient.Deadline(t), 100*time.Millisecond)
		defer cancel()
		_, err := locks.Open(ctx, connect, locks.WithSessionFile(path))
		require.ErrorIs(t, err, context.DeadlineExceeded)
		require.Len(t, left(t, path), 1, "it was not closed")

		var dials atomic.Int64
		dialer := locks.WithDialer(func(ctx context.Context, network, address string) (net.Conn, error) {
			dials.Add(1)
			return new(net.Dialer).DialContext(ctx, network, address)
		})
		got := patient.Elsewhere(patient.Deadline(t), func(ctx context.Context) (*locks.Lease, error) {
			client, err := locks.Open(ctx, connect, locks.WithSessionFile(path), dialer,
				locks.WithSessionTimeout(patient.Session))
			if err != nil {
				return nil, err
			}
			patient.Cleanup(t, func() { require.NoError(t, client.Close(context.Background())) })
			return client.Mutex("/down").TryLock(ctx)
		})
		patient.Eventually(t, func() bool { return dials.Load() >= 10 }, "it gave up")
		proxy.Refuse(false)
		a := patient.Receive(t, got)
		require.NoError(t, a.Err)
		patient.GiveBack(t, a.Lease)
	})
}

// The servers of the predecessor do not answer, and ours do: Open goes on after a while, the closing until the session
// has expired by itself, and a successor that comes soon finds it again.
func TestSessionOfThePredecessorCannotBeClosed(t *testing.T) {
	path := sessionFile(t)
	record := sessionfile.Record{Session: 7, Password: []byte("x"), Timeout: 20 * time.Second, Connect: "elsewhere:2181"}
	leave(t, path, record)
	synctest.Test(t, func(t *testing.T) {
		server := bubble.Server(t)
		log, logger := stories.NewLog()
		begin := time.Now()
		client, err := locks.Open(t.Context(), server.Connect(), locks.WithSessionFile(path), logger,
			locks.WithSessionTimeout(10*time.Second),
			locks.WithDialer(func(ctx context.Context, network, address string) (net.Conn, error) {
				if address == record.Connect {
					return nil, errors.New("not reached")
				}
				return server.DialContext(ctx, network, address)
			}))
		require.NoError(t, err)
		relists.Count(t, client.Session())
		defer func() {
			require.NoError(t, client.Close(context.WithoutCancel(t.Context())))
			time.Sleep(time.Minute) // the actor system's throttle sleeps on for a while
		}()
		require.Equal(t, 5*time.Second, time.Since(begin))
		require.False(t, log.Has("predecessor not closed"))
		time.Sleep(14 * time.Second)
		require.False(t, log.Has("predecessor not closed"))
		time.Sleep(2 * time.Second)
		log.Await(t, "predecessor not closed")
		log.Await(t, "not reached")
	})
	require.Equal(t, []sessionfile.Record{record}, left(t, path))
}

// A session that was recorded on another host is not closed: its process may live.
func TestSessionOfAnotherHostIsNotClosed(t *testing.T) {
	stories.EachServer(t, func(t *testing.T, at *stories.Servers) {
		path := sessionFile(t)
		p := start(t, restarter{Connect: at.Connect(), Path: "/host", File: path})
		_, held, _ := p.holds(t)
		require.NoError(t, p.Kill())
		text := regexp.MustCompile(`"boot":"[^"]*"`).ReplaceAllString(readFile(t, path), `"boot":"another"`)
		require.Contains(t, text, "another")
		require.NoError(t, os.WriteFile(path, []byte(text), 0o600))
		log, logger := stories.NewLog()
		client := at.Open(t, locks.WithSessionFile(path), logger)
		_, err := client.Mutex("/host").TryLock(patient.Deadline(t))
		require.ErrorIs(t, err, locks.ErrNotAcquired)
		require.Equal(t, []string{held}, at.Children(t, at.Raw(t), "/host"))
		log.Await(t, "session file passed over")
	})
}
