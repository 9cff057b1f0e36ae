package txn

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/turnstile-locks/turnstile/locks"
	"github.com/turnstile-locks/turnstile/tests/rig"
	"github.com/turnstile-locks/turnstile/tests/scene"
)

// TestJournalIsExact: clients with several workers each contend for a lock, plain, sticky or in cohorts, and write under
// it, while their connections are cut, requests and replies are lost, and an operator breaks holders.
func TestJournalIsExact(t *testing.T) {
	t.Parallel()
	for name, opts := range passedOn {
		t.Run(name, func(t *testing.T) {
			scene.EachServer(t, func(t *testing.T, zk *scene.Servers) {
				keepJournal(t, zk, opts, nil)
			})
		})
	}
}

// TestJournalThroughLeaderChanges: leaders are killed as well.
func TestJournalThroughLeaderChanges(t *testing.T) {
	scene.EachControlled(t, 3, func(t *testing.T, servers scene.Controlled) {
		keepJournal(t, scene.At("", strings.Split(servers.Connect, ",")...).Below(t), nil, func(ctx context.Context) error {
			leader, err := servers.Find(ctx)
			if err == nil {
				err = errors.Join(leader.Kill(), leader.Restart(ctx))
			}
			return err
		})
	})
}

// keepJournal has three clients write until they have been struck often enough, and the servers
// three times.
func keepJournal(t *testing.T, zk *scene.Servers, opts []locks.LockOption, strike func(context.Context) error) {
	const clients, workers, rounds, enough = 3, 3, 12, 15
	var strikes atomic.Int32
	zk.Write(t, "/journal", "")
	j := &Journal{}
	ctx := scene.Deadline(t)
	operator := zk.Open(t)
	var all, faults sync.WaitGroup
	over := make(chan struct{})
	for c := range clients {
		proxy := rig.NewProxy(t, zk.Members[c%len(zk.Members)].Addr())
		mutex := scene.Open(t, proxy.Addr()+zk.Root()).Mutex("/lock", opts...)
		for w := range workers {
			all.Go(func() {
				for n := 0; ctx.Err() == nil && (n < rounds || strikes.Load() < enough); n++ {
					_ = locks.Do(ctx, mutex, func(inside context.Context, token locks.Token) error {
						entry := Entry(int64(token), fmt.Sprintf("%d/%d/%d", c, w, n))
						j.Begin(entry)
						_, err := locks.LeaseOf(inside).Txn(ctx, locks.CreateSequential("/journal/e-", []byte(entry)))
						told := Refused
						if err == nil {
							told = Committed
						} else if errors.Is(err, locks.ErrUnknownOutcome) {
							told = Unknown
						}
						j.End(entry, told)
						return nil
					})
				}
			})
		}
		faults.Go(func() { strikeJournal(ctx, zk, proxy, operator, &strikes, over) })
	}
	for range 3 {
		if strike != nil {
			time.Sleep(100 * time.Millisecond)
			assert.NoError(t, strike(ctx))
		}
	}
	all.Wait()
	close(over)
	faults.Wait()
	require.NoError(t, ctx.Err())
	var entries []string
	conn := zk.Raw(t)
	for _, name := range zk.Children(t, conn, "/journal") {
		data, _, err := conn.Get(zk.Root() + "/journal/" + name)
		require.NoError(t, err)
		entries = append(entries, string(data))
	}
	require.Empty(t, j.Judge(entries))
	counts := j.Counts()
	require.Positive(t, counts[Committed])
	t.Logf("%d strikes: %d entries, %d refused, %d unknown", strikes.Load(), counts[Committed], counts[Refused], counts[Unknown])
}

// strikeJournal strikes one client until all is over, with one fault after the other.
func strikeJournal(ctx context.Context, zk *scene.Servers, proxy *rig.Proxy, operator *locks.Client, strikes *atomic.Int32,
	over <-chan struct{}) {
	for ; ; strikes.Add(1) {
		select {
		case <-over:
			return
		case <-time.After(time.Duration(rand.IntN(60)) * time.Millisecond):
		}
		switch rand.IntN(4) {
		case 0:
			proxy.Cut()
		case 1:
			if queue, err := operator.Queue(ctx, "/lock"); err == nil && len(queue) > 0 {
				_ = operator.Break(ctx, queue[0])
			}
		default:
			action := []rig.Action{rig.DropReply, rig.CutBefore}[rand.IntN(2)]
			fault := proxy.Expect(rig.Rule{Op: rig.OpMulti, Action: action,
				Path: func(path string) bool { return strings.HasPrefix(path, zk.Root()+"/journal/") }})
			select {
			case <-fault.Fired():
			case <-over:
			}
		}
	}
}
