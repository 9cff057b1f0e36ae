package restarts

import (
	"context"
	"errors"
	"fmt"
	"net"
	"os"
	"regexp"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/turnstile-locks/turnstile/locks"
	"github.com/turnstile-locks/turnstile/tests/scene"
	"github.com/turnstile-locks/turnstile/zkconn"
	"github.com/turnstile-locks/turnstile/zkconn/embedded"
	"github.com/turnstile-locks/turnstile/zkconn/sessionfile"
)

// timeout is the session timeout of clients in a bubble.
const timeout = 10 * time.Second

func hex(session int64) string { return fmt.Sprintf("%#x", uint64(session)) }

// left gives the sessions that nobody has closed, of a file that nobody uses.
func left(t *testing.T, path string) []sessionfile.Record {
	t.Helper()
	file, err := sessionfile.Open(path)
	require.NoError(t, err)
	defer file.Close()
	return file.Left()
}

// leave writes a file as a process leaves it that dies.
func leave(t *testing.T, records ...sessionfile.Record) (path string) {
	t.Helper()
	path = sessionFile(t)
	file, err := sessionfile.Open(path)
	require.NoError(t, err)
	defer file.Close()
	require.NoError(t, file.Write(records))
	return path
}

// copied gives what is in a session file that is in use.
func copied(t *testing.T, file string) sessionfile.Record {
	t.Helper()
	path := sessionFile(t)
	require.NoError(t, os.WriteFile(path, []byte(readFile(t, file)), 0o600))
	all := left(t, path)
	require.Len(t, all, 1)
	return all[0]
}

// abandoned gives a session as a process leaves it that dies, and a lease of it: its network is gone, so that its own
// client cannot give anything back. before is what happens before that.
func abandoned(t *testing.T, server *embedded.Server, path, key string, before ...func(dead *locks.Client)) (sessionfile.Record, *locks.Lease) {
	t.Helper()
	d, file := &scene.Network{Server: server}, sessionFile(t)
	dead := scene.ClientOver(t, server, d, locks.WithSessionFile(file))
	lease := scene.Locked(t, dead.Mutex(path, locks.WithReclaim(key)).Lock)
	time.Sleep(time.Minute)
	for _, does := range before {
		does(dead)
	}
	d.Be(scene.Down)
	return copied(t, file), lease
}

// TestCloseEmptiesTheSessionFile: an orderly end leaves nothing to close; one that no server has heard of does.
func TestCloseEmptiesTheSessionFile(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		path, d := sessionFile(t), &scene.Network{Server: scene.Virtual(t)}
		open := func(opts ...locks.Option) *locks.Client {
			return scene.ClientOver(t, d.Server, d, append(opts, locks.WithSessionFile(path))...)
		}
		client := open()
		require.Contains(t, readFile(t, path), hex(client.Session().ID()), "when it is open it is there")
		require.NoError(t, client.Close(t.Context()))
		require.Empty(t, readFile(t, path))

		client = open()
		lease := scene.Locked(t, client.Mutex("/cut").Lock)
		d.Be(scene.Down)
		require.ErrorIs(t, client.Close(context.WithoutCancel(t.Context())), locks.ErrSessionRemains)
		require.Contains(t, readFile(t, path), hex(lease.Session()), "the session lives on")
		require.Contains(t, d.Server.Sessions(), lease.Session())

		d.Be(scene.Up)
		log, logger := scene.NewLog()
		scene.GiveBack(t, scene.Locked(t, open(logger).Mutex("/cut").TryLock))
		log.Await(t, "existed=true")
	})
}

// TestSessionFileHoldsTheNewestSession: every session that one client has after the other is in the file.
func TestSessionFileHoldsTheNewestSession(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		path, server := sessionFile(t), scene.Virtual(t)
		client := scene.Client(t, server, locks.WithSessionFile(path))
		for range 2 {
			before := client.Session().ID()
			require.Contains(t, readFile(t, path), hex(before))
			require.NoError(t, server.Expire(before))
			time.Sleep(timeout)
			require.Contains(t, readFile(t, path), hex(client.Session().ID()))
			require.NotContains(t, readFile(t, path), hex(before))
		}
	})
}

// TestAllSessionsThatWereLeftAreClosed: several restarts in a row, none of which could close anything, leave several
// sessions. What they held is free once the next process is open, also for one that waits elsewhere.
func TestAllSessionsThatWereLeftAreClosed(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		server := scene.Virtual(t)
		var waits <-chan scene.Answer
		one, _ := abandoned(t, server, "/one", "")
		two, _ := abandoned(t, server, "/two", "", func(*locks.Client) {
			waits = scene.Elsewhere(t.Context(), scene.Client(t, server).Mutex("/two").Lock)
			time.Sleep(time.Second)
		})
		unusable := sessionfile.Record{Session: 1, Password: []byte("x"), Timeout: time.Second, Connect: "no:port:at:all"}
		path, begun := leave(t, one, unusable, two), time.Now()
		log, logger := scene.NewLog()
		client := scene.Client(t, server, locks.WithSessionFile(path), logger)
		scene.GiveBack(t, scene.Locked(t, client.Mutex("/one").TryLock))
		scene.GiveBack(t, scene.Receive(t, waits).Lease)
		require.Less(t, time.Since(begun), timeout/2, "nothing had to expire")
		log.Await(t, "bad configuration")
		require.NoError(t, client.Close(t.Context()))
		require.Empty(t, readFile(t, path))
	})
}

// TestSessionOfThePredecessorIsNotClosed: its password is wrong, or it was recorded on another host, whose process may live.
// Nor is it where it has expired. None of that is an error.
func TestSessionOfThePredecessorIsNotClosed(t *testing.T) {
	for name, c := range map[string]struct {
		change func(record *sessionfile.Record)
		host   bool
		says   string
		free   bool
	}{
		"wrong password": {change: func(r *sessionfile.Record) { r.Password = []byte("0123456789abcdef") }, says: "existed=false"},
		"another host":   {host: true, says: "session file passed over"},
		"expired":        {says: "existed=false", free: true},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				server := scene.Virtual(t)
				record, held := abandoned(t, server, "/over", "")
				if c.change != nil {
					c.change(&record)
				}
				path := leave(t, record)
				if c.host {
					text := regexp.MustCompile(`"boot":"[^"]*"`).ReplaceAllString(readFile(t, path), `"boot":"another"`)
					require.Contains(t, text, "another")
					require.NoError(t, os.WriteFile(path, []byte(text), 0o600))
				}
				if c.free {
					require.NoError(t, server.Expire(held.Session()))
				}
				log, logger := scene.NewLog()
				client := scene.Client(t, server, locks.WithSessionFile(path), logger)
				_, err := client.Mutex("/over").TryLock(t.Context())
				if c.free {
					require.NoError(t, err)
				} else {
					require.ErrorIs(t, err, locks.ErrNotAcquired)
					require.Contains(t, server.Sessions(), held.Session())
				}
				log.Await(t, c.says)
			})
		})
	}
}

// TestServersAreDownAtTheRestart: what the predecessor held is free when they can be reached.
func TestServersAreDownAtTheRestart(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		d := &scene.Network{Server: scene.Virtual(t)}
		record, _ := abandoned(t, d.Server, "/down", "")
		path := leave(t, record)
		d.Be(scene.Down)
		ctx, cancel := context.WithTimeout(t.Context(), 100*time.Millisecond)
		defer cancel()
		_, err := locks.Open(ctx, d.Server.Connect(), locks.WithSessionFile(path), locks.WithDialer(d.Dial))
		require.ErrorIs(t, err, context.DeadlineExceeded)
		require.Equal(t, []sessionfile.Record{record}, left(t, path), "it was not closed")

		time.AfterFunc(3*time.Second, func() { d.Be(scene.Up) })
		client := scene.ClientOver(t, d.Server, d, locks.WithSessionFile(path))
		scene.GiveBack(t, scene.Locked(t, client.Mutex("/down").TryLock))
	})
}

// TestSessionOfThePredecessorCannotBeClosed: its servers do not answer, and ours do. Open goes on after a while, the closing
// until the session has expired by itself, and a successor that comes soon finds it again.
func TestSessionOfThePredecessorCannotBeClosed(t *testing.T) {
	record := sessionfile.Record{Session: 7, Password: []byte("x"), Timeout: 20 * time.Second, Connect: "elsewhere:2181"}
	path := leave(t, record)
	synctest.Test(t, func(t *testing.T) {
		server := scene.Virtual(t)
		log, logger := scene.NewLog()
		begin := time.Now()
		scene.Client(t, server, locks.WithSessionFile(path), logger,
			locks.WithDialer(func(ctx context.Context, network, address string) (net.Conn, error) {
				if address == record.Connect {
					return nil, errors.New("not reached")
				}
				return server.DialContext(ctx, network, address)
			}))
		require.Equal(t, 5*time.Second, time.Since(begin))
		time.Sleep(14 * time.Second)
		require.False(t, log.Has("predecessor not closed"))
		time.Sleep(2 * time.Second)
		log.Await(t, "predecessor not closed")
		log.Await(t, "not reached")
	})
	require.Equal(t, []sessionfile.Record{record}, left(t, path))
}

// TestSessionFileIsRefused before anything is sent, where it breaks a rule; package sessionfile has the rules. A damaged
// file is reported, and used.
func TestSessionFileIsRefused(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		path, server := sessionFile(t), scene.Virtual(t)
		never := locks.WithDialer(func(context.Context, string, string) (net.Conn, error) {
			t.Error("somebody was called")
			return nil, errors.New("nobody is here")
		})
		require.NoError(t, os.WriteFile(path, []byte("somebody's letter"), 0o600))
		for file, rule := range map[string]string{"": "must not be empty", path: "holds something else"} {
			_, err := locks.Open(t.Context(), "nobody:2181", locks.WithSessionFile(file), never)
			require.ErrorIs(t, err, zkconn.ErrBadConfig)
			require.ErrorContains(t, err, rule)
			require.ErrorContains(t, err, file)
		}
		require.Equal(t, "somebody's letter", readFile(t, path))

		require.NoError(t, os.WriteFile(path, make([]byte, 200), 0o600))
		log, logger := scene.NewLog()
		client := scene.Client(t, server, locks.WithSessionFile(path), logger)
		log.Await(t, "session file passed over")
		require.Contains(t, readFile(t, path), hex(client.Session().ID()))
	})
}
