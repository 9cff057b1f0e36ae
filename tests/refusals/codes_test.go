package refusals

import (
	"context"
	"errors"
	"fmt"
	"os"
	"regexp"
	"strconv"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/turnstile-locks/turnstile/locks"
	"github.com/turnstile-locks/turnstile/tests/scene"
	"github.com/turnstile-locks/turnstile/zkconn"
	"github.com/turnstile-locks/turnstile/zkconn/embedded"
)

// lockRow has the outcome of a Lock for a code that refuses its create, or says nothing of it.
type lockRow struct {
	code int32
	err  error
	// passes: MayPass. goes: the request goes on until its ctx ends.
	passes, goes bool
}

// lockRows are the rows of package zkconn's table that are not answers on which the recipe decides. -112, -115
// and -124 end the whole session: TestLockMeetsTheEndOfItsSession has those, the fault
// "ended-elsewhere" of package matrix has -112 for each request of a lock, and TestRefused of
// package access has the other two on real servers.
func lockRows(t *testing.T) (rows []lockRow) {
	doc, err := os.ReadFile("../../zkconn/doc.go")
	require.NoError(t, err)
	seen := map[string]error{"ctx, Detail": context.DeadlineExceeded, "ErrNoAuth": locks.ErrNoAuth,
		"ErrLocalSession": locks.ErrLocalSession, "ErrQuota": locks.ErrQuota}
	table := regexp.MustCompile(`(?m)^//\t(-\d+) \w+ +\w+ +\w+(?: part)? +(fails|resolves|repeats) +(.*?) +(yes|no)$`)
	for _, row := range table.FindAllStringSubmatch(string(doc), -1) {
		code, err := strconv.Atoi(row[1])
		require.NoError(t, err)
		r := lockRow{int32(code), locks.ErrFailed, row[4] == "yes", row[2] != "fails"}
		if sees := seen[row[3]]; sees != nil {
			r.err = sees
		} else if r.goes {
			r.err = context.DeadlineExceeded
		}
		if code != -112 && code != -115 && code != -124 {
			rows = append(rows, r)
		}
	}
	require.Len(t, rows, 24)
	return rows
}

// askRefused has a client ask for the lock /x for a minute, while the server answers each create of
// its node with a code. It returns when half of the minute has passed.
func askRefused(
	t *testing.T, server *embedded.Server, client *locks.Client, code int32,
) (*embedded.Injection, <-chan scene.Answer) {
	t.Helper()
	injected, err := server.Inject(embedded.Fault{Path: "/x/_c_*", Action: embedded.Refuse, Code: code, Count: -1})
	require.NoError(t, err)
	ctx, stop := context.WithTimeout(t.Context(), time.Minute)
	t.Cleanup(stop)
	answer := scene.Elsewhere(ctx, client.Mutex("/x").Lock)
	time.Sleep(30 * time.Second)
	synctest.Wait()
	return injected, answer
}

// TestLockMeetsEachCode: what Lock returns where a server answers its create so each time, whether that may pass, and
// what Ready says. Where Lock goes on it does so at a pace. Afterwards all is as it was.
func TestLockMeetsEachCode(t *testing.T) {
	for _, row := range lockRows(t) {
		t.Run(fmt.Sprint(row.code), func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				server := scene.Virtual(t)
				client := scene.Client(t, server)
				other := scene.Locked(t, client.Mutex("/other").Lock)
				injected, answer := askRefused(t, server, client, row.code)
				require.Equal(t, row.goes, len(answer) == 0)
				if ready := client.Ready(); row.goes || row.code == -120 {
					require.ErrorContains(t, ready, client.State().Trouble)
					require.NotEmpty(t, client.State().Trouble)
					t.Log(ready)
				} else {
					require.NoError(t, ready)
				}
				got := <-answer
				t.Log(got.Err)
				require.ErrorIs(t, got.Err, row.err)
				require.Equal(t, row.passes, locks.MayPass(got.Err))
				require.LessOrEqual(t, injected.Hits(), 120, "requests in a minute")
				if row.goes {
					var failed *locks.Error
					require.True(t, errors.As(got.Err, &failed))
					require.Regexp(t, `/x/_c_\S+, \d+ times$`, failed.Detail)
				}
				require.True(t, other.Valid(), "nothing else is the worse for it")
				injected.Remove()
				lease := scene.Locked(t, client.Mutex("/x").Lock)
				require.NoError(t, client.Ready())
				require.Empty(t, client.State().Trouble)
				scene.GiveBack(t, lease, other)
			})
		})
	}
}

// TestLockMeetsTheEndOfItsSession: what Lock returns where the server answers its create with the end of the session,
// each time. It goes on in other sessions, at a pace, or the client is closed for want of a credential.
func TestLockMeetsTheEndOfItsSession(t *testing.T) {
	for _, row := range []struct {
		code   int32
		err    error
		says   string
		passes bool
	}{
		{-112, context.DeadlineExceeded, "the session ends each time that the servers are asked for a node in /x, 1", true},
		{-115, zkconn.ErrAuthFailed, "credential refused", false},
		{-124, zkconn.ErrAuthFailed, "the server requires SASL authentication", false},
	} {
		t.Run(fmt.Sprint(row.code), func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				server := scene.Virtual(t)
				client := scene.Client(t, server)
				injected, answer := askRefused(t, server, client, row.code)
				require.Equal(t, row.passes, len(answer) == 0)
				require.ErrorContains(t, client.Ready(), row.says)
				err := (<-answer).Err
				t.Log(err)
				require.ErrorIs(t, err, row.err)
				require.ErrorContains(t, err, row.says)
				require.Equal(t, row.passes, locks.MayPass(err))
				require.LessOrEqual(t, injected.Hits(), 120, "requests in a minute")
				injected.Remove()
				lease, err := client.Mutex("/x").Lock(t.Context())
				if !row.passes {
					require.ErrorIs(t, err, locks.ErrClosed)
					return
				}
				require.NoError(t, err)
				require.NoError(t, client.Ready())
				scene.GiveBack(t, lease)
			})
		})
	}
}

// TestThrottled: requests to a server that carries out nothing for a while are carried out when it
// does.
func TestThrottled(t *testing.T) {
	for name, do := range map[string]func(context.Context, *locks.Client) error{
		"Lock": func(ctx context.Context, client *locks.Client) error {
			_, err := client.Mutex("/x/lock").Lock(ctx)
			return err
		},
		"Contest": func(ctx context.Context, client *locks.Client) error {
			_, err := client.Contest("/x/contest").Lock(ctx)
			return err
		},
		"RunOnce": func(ctx context.Context, client *locks.Client) error {
			// It waits, for the session lapses, and the node that it left may still be there.
			once, err := locks.RunOnce(ctx, client, "/x/job", time.Hour,
				func(context.Context, locks.Token) error { return nil }, locks.WithWaiting())
			if err == nil && once.Outcome != locks.OnceRan {
				err = errors.New(string(once.Outcome))
			}
			return err
		},
		"Queue": func(ctx context.Context, client *locks.Client) error {
			_, err := client.Queue(ctx, "/x/lock")
			return err
		},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				server := scene.Virtual(t)
				client := scene.Client(t, server)
				done := make(chan error, 1)
				throttle(t, server, func() {
					go func() { done <- do(t.Context(), client) }()
					time.Sleep(20 * time.Second)
					synctest.Wait()
					require.Empty(t, done, "it is not carried out")
				})
				require.NoError(t, <-done)
			})
		})
	}
}

// throttle has a server throttle what is asked of /x and below while do runs.
func throttle(t *testing.T, server *embedded.Server, do func()) {
	for _, path := range []string{"/x", "/x/**"} {
		injected, err := server.Inject(embedded.Fault{Path: path, Action: embedded.Refuse, Count: -1})
		require.NoError(t, err)
		defer injected.Remove()
	}
	do()
}

// TestThrottledRelease: the lock is given back as soon as the server lets it, and Unlock's ctx bounds only its wait.
func TestThrottledRelease(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		server := scene.Virtual(t)
		client := scene.Client(t, server)
		keeps := scene.Locked(t, client.Mutex("/keeps").Lock)
		lease := scene.Locked(t, client.Mutex("/x").Lock)
		time.Sleep(time.Second)
		throttle(t, server, func() {
			require.True(t, lease.Valid())
			ctx, stop := context.WithTimeout(t.Context(), 8*time.Second)
			defer stop()
			err := lease.Unlock(ctx)
			require.ErrorIs(t, err, context.DeadlineExceeded)
			require.ErrorContains(t, err, "the server is throttled and does not carry out")
			require.True(t, locks.MayPass(err))
		})
		scene.GiveBack(t, lease)
		require.True(t, keeps.Valid())
		scene.GiveBack(t, keeps)
	})
}

// TestThrottledHolder: a holder whose node cannot be read for a while holds on, and hears of a revoke request later.
func TestThrottledHolder(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		server := scene.Virtual(t)
		client := scene.Client(t, server)
		injected, err := server.Inject(embedded.Fault{Op: embedded.OpGetData, Path: "/x/_c_*", Action: embedded.Refuse, Count: -1})
		require.NoError(t, err)
		lease := scene.Locked(t, client.Mutex("/x").Lock)
		time.Sleep(time.Minute)
		require.True(t, lease.Valid())
		require.Positive(t, injected.Hits())
		injected.Remove()
		time.Sleep(10 * time.Second)
		_, err = client.Revoke(t.Context(), "/x")
		require.NoError(t, err)
		<-lease.Revoked()
		scene.GiveBack(t, lease)
	})
}
