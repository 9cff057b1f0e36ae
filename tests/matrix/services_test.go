package matrix

import (
	"context"
	"fmt"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/turnstile-locks/turnstile/locks"
	"github.com/turnstile-locks/turnstile/tests/scene"
)

// services has what services do with a lock, and what they say of a hold that is lost: each says first that it holds.
var services = map[string]struct {
	use  func(ctx context.Context, client *locks.Client, say func(what string, lost ...error))
	told []string
}{
	"Do": {func(ctx context.Context, client *locks.Client, say func(string, ...error)) {
		say("Do", locks.Do(ctx, client.Mutex(lockPath), func(ctx context.Context, _ locks.Token) error {
			say("holds")
			<-ctx.Done()
			say("work", context.Cause(ctx))
			return nil
		}))
	}, []string{"holds", "work lost", "Do lost"}},
	"Election.Run": {func(ctx context.Context, client *locks.Client, say func(string, ...error)) {
		_ = client.Election(lockPath).Run(ctx, "it", func(within context.Context, _ *locks.Leadership) error {
			say("holds")
			<-within.Done()
			if ctx.Err() == nil {
				say("term", context.Cause(within))
			}
			return nil
		})
	}, []string{"holds", "term lost", "holds"}},
	"WithOnChange": {func(ctx context.Context, client *locks.Client, say func(string, ...error)) {
		lease, err := client.Mutex(lockPath, locks.WithOnChange(func(c locks.Change) { say(string(c.Kind)) })).Lock(ctx)
		say("holds", err)
		<-lease.Context().Done()
	}, []string{"holds", "suspended", "lost"}},
	"Lease.Txn": {func(ctx context.Context, client *locks.Client, say func(string, ...error)) {
		lease, err := client.Mutex(lockPath).Lock(ctx)
		say("holds", err)
		<-lease.Context().Done()
		_, err = lease.Txn(ctx, locks.Create("/value", nil))
		say("Txn", err)
	}, []string{"holds", "Txn lost"}},
	"Group": {func(ctx context.Context, client *locks.Client, say func(string, ...error)) {
		member, err := client.Group("/group").Join(ctx, "it")
		say("holds", err)
		for was := member.ID(); member.ID() == was; time.Sleep(tick) {
		}
		say("another")
		_ = member.Leave(ctx)
	}, []string{"holds", "another"}},
}

// TestServicesLoseTheirLease: the servers end the session of a service, or nothing that it sends arrives, until others hold. In
// a silence it is told so before they do.
func TestServicesLoseTheirLease(t *testing.T) {
	t.Parallel()
	for name, service := range services {
		for _, silent := range []bool{false, true} {
			t.Run(fmt.Sprintf("%s/silence %t", name, silent), func(t *testing.T) {
				synctest.Test(t, func(t *testing.T) {
					w := newWorld(t, 1)
					network := &scene.Network{Server: w.server}
					p := w.join(t, mutex, w.server.Connect(), locks.WithDialer(network.Dial))
					next := w.join(t, mutex, w.server.Connect(), locks.WithSessionTimeout(steady))
					var mu sync.Mutex
					var said []string
					all := func() []string { mu.Lock(); defer mu.Unlock(); return append([]string{}, said...) }
					say := func(what string, errs ...error) {
						mu.Lock()
						defer mu.Unlock()
						for _, err := range errs {
							if err != nil {
								assert.ErrorIs(t, err, locks.ErrLost)
								what += " lost"
							}
						}
						said = append(said, what)
					}
					ctx, cancel := context.WithCancel(scene.Deadline(t))
					ended := make(chan struct{})
					go func() {
						defer close(ended)
						service.use(ctx, p.client, say)
					}()
					scene.Eventually(t, func() bool { return len(all()) > 0 }, "it holds")
					next.ask(t)
					time.Sleep(2 * timeout)
					session := p.session()
					if silent {
						network.Be(scene.Silent)
						w.awaitExpiry(t, session)
					} else {
						network.Be(scene.Down)
						time.Sleep(tick)
						require.NoError(t, w.server.Expire(session))
					}
					next.hold(t)
					synctest.Wait()
					if told := all(); silent && name != "Group" {
						require.Contains(t, told[len(told)-1], "lost", "it is told before others hold")
					}
					network.Be(scene.Up)
					scene.GiveBack(t, next.lease)
					scene.Eventually(t, func() bool { return len(all()) >= len(service.told) }, "it is told all")
					cancel()
					<-ended
					require.Equal(t, service.told, all())
				})
			})
		}
	}
}
