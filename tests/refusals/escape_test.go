package refusals

import (
	"errors"
	"strconv"
	"strings"
	"testing"
	"time"
	"unicode"

	"github.com/stretchr/testify/require"

	"github.com/turnstile-locks/turnstile/locks"
	"github.com/turnstile-locks/turnstile/messages"
	"github.com/turnstile-locks/turnstile/tests/scene"
	"github.com/turnstile-locks/turnstile/zkconn"
	"github.com/turnstile-locks/turnstile/zkconn/embedded"
)

// TestErrorsArePrintable: for any path, the text of an error is one line without a character that a
// terminal would act on. Each call that takes a path says that it is bad, and shows what is bad
// about it.
func TestErrorsArePrintable(t *testing.T) {
	client := scene.Open(t, embedded.Run(t).Addr())
	ctx := scene.Deadline(t)
	lease := scene.Locked(t, client.Mutex("/good").Lock)
	raw, err := zkconn.NewConfig("h")
	require.NoError(t, err)
	conn, err := zkconn.Dial(raw, 1, func(zkconn.Event) {})
	require.NoError(t, err)
	defer conn.Close()
	for _, path := range []string{"/a\x1b[2Jb", "/a\x1b]0;title\a", "/a\rb", "/a\nb", "/a\u009bb", "/a\x7f"} {
		for name, call := range map[string]func() error{
			"Lock":      func() error { _, err := client.Mutex(path).Lock(ctx); return err },
			"TryRLock":  func() error { _, err := client.RWMutex(path).TryRLock(ctx); return err },
			"Semaphore": func() error { _, err := client.Semaphore(path, 2).Acquire(ctx, 1); return err },
			"Contest":   func() error { _, err := client.Contest(path).Lock(ctx); return err },
			"All":       func() error { _, err := locks.All(ctx, client.Mutex("/good2"), client.Mutex(path)); return err },
			"RunOnce":   func() error { _, err := locks.RunOnce(ctx, client, path, time.Hour, nil); return err },
			"RunOnceFor": func() error {
				_, err := locks.RunOnceFor(ctx, client, path, time.Now(), nil)
				return err
			},
			"Campaign":  func() error { _, err := client.Election(path).Campaign(ctx, "x"); return err },
			"Leader":    func() error { _, err := client.Election(path).Leader(ctx); return err },
			"Observe":   func() error { _, err := client.Election(path).Observe(ctx); return err },
			"Join":      func() error { _, err := client.Group(path).Join(ctx, ""); return err },
			"Members":   func() error { _, err := client.Group(path).Members(ctx); return err },
			"Queue":     func() error { _, err := client.Queue(ctx, path); return err },
			"Locks":     func() error { _, err := client.Locks(ctx, path); return err },
			"Revoke":    func() error { _, err := client.Revoke(ctx, path); return err },
			"Deadlocks": func() error { _, err := client.Deadlocks(ctx, path); return err },
			"Missing":   func() error { _, err := client.Missing(ctx, path); return err },
			"Possible":  func() error { _, _, err := client.PossibleDeadlocks(ctx, path); return err },
			"Break": func() error {
				return client.Break(ctx, messages.Contender{Path: path, Node: "lock-0000000001", Token: 1})
			},
			"Watch":     func() error { _, err := client.Group(path).Watch(ctx); return err },
			"Keyed":     func() error { _, err := client.Keyed(path).Lock(ctx, "key"); return err },
			"Do":        func() error { return locks.Do(ctx, client.RWMutex(path).Reader(), nil) },
			"Permit":    func() error { _, err := client.Semaphore(path, 2).Weight(1).Lock(ctx); return err },
			"Permits":   func() error { return client.SetPermits(ctx, path, 2) },
			"Txn":       func() error { _, err := lease.Txn(ctx, locks.Create(path, nil)); return err },
			"lease.Get": func() error { _, _, err := lease.Get(ctx, path); return err },
			"Get":       func() error { _, _, err := conn.Get(path); return err },
			"chroot":    func() error { _, err := zkconn.NewConfig("h" + path); return err },
			"host":      func() error { _, err := zkconn.NewConfig("h" + path[1:]); return err },
		} {
			err := call()
			require.ErrorContains(t, err, strings.Trim(strconv.Quote(path[1:]), `"`), name)
			for _, r := range err.Error() {
				require.True(t, unicode.IsPrint(r), "%s %q: %q", name, path, err)
			}
			if name != "host" {
				require.ErrorIs(t, err, locks.ErrBadPath, "%s %q", name, path)
			}
			var of *locks.Error
			if errors.As(err, &of) && name != "All" && name != "Keyed" && name != "Txn" && name != "lease.Get" {
				require.Equal(t, path, of.Path, "%s: programs get the path as it was given", name)
			}
		}
	}
}
