package tests

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/turnstile-locks/turnstile/locks"
	"github.com/turnstile-locks/turnstile/tests/rig"
)

// journal is what holders of one lock write down, each entry a node with a number, and what they were told of it.
type journal struct {
	mu      sync.Mutex
	told    map[string]error // by entry, which is a token and who wrote it
	unknown int
}

// entry writes an entry under a lease.
func (j *journal) entry(ctx context.Context, lease *locks.Lease, who string) {
	text := fmt.Sprintf("%d %s", lease.Token(), who)
	_, err := lease.Txn(ctx, locks.CreateSequential("/journal/e-", []byte(text)))
	j.mu.Lock()
	defer j.mu.Unlock()
	j.told[text] = err
	if errors.Is(err, locks.ErrUnknownOutcome) {
		j.unknown++
	}
}

// check compares what there is with what was told: no entry is of a holder before the one that wrote the last, what
// succeeded is there once, and what failed is not there.
func (j *journal) check(t *testing.T, zk *servers) {
	t.Helper()
	found, last := map[string]int{}, locks.Token(0)
	conn := zk.Raw(t)
	for _, name := range zk.Children(t, conn, "/journal") {
		data, _, err := conn.Get(zk.root + "/journal/" + name)
		require.NoError(t, err)
		found[string(data)]++
		var token locks.Token
		_, err = fmt.Sscanf(strings.Fields(string(data))[0], "%d", &token)
		require.NoError(t, err)
		require.GreaterOrEqual(t, token, last, "%s was written by a holder that had lost the lock", name)
		last = token
	}
	for text, err := range j.told {
		switch {
		case err == nil:
			require.Equal(t, 1, found[text], text)
		case errors.Is(err, locks.ErrUnknownOutcome):
			require.LessOrEqual(t, found[text], 1, text)
		default:
			require.Zero(t, found[text], "%s: %v", text, err)
		}
		delete(found, text)
	}
	require.Empty(t, found)
}

// TestJournalIsExact: clients with several workers each contend for a lock, plain, sticky or in cohorts, and write under
// it, while their connections are cut, requests and replies are lost, and an operator breaks holders.
func TestJournalIsExact(t *testing.T) {
	for name, opts := range passedOn {
		t.Run(name, func(t *testing.T) {
			eachServer(t, func(t *testing.T, zk *servers) {
				keepJournal(t, zk, opts)
			})
		})
	}
}

func keepJournal(t *testing.T, zk *servers, opts []locks.LockOption) {
	const clients, workers, rounds = 3, 3, 12
	zk.write(t, "/journal", "")
	j := &journal{told: map[string]error{}}
	ctx := deadline(t)
	operator := open(t, zk.Connect())
	var all, faults sync.WaitGroup
	over := make(chan struct{})
	for c := range clients {
		proxy := zk.Proxy(t)
		mutex := open(t, proxy.Addr()+zk.Root()).Mutex("/lock", opts...)
		for w := range workers {
			all.Go(func() {
				for n := range rounds {
					_ = locks.Do(ctx, mutex, func(inside context.Context, _ locks.Token) error {
						j.entry(ctx, locks.LeaseOf(inside), fmt.Sprint(c, " ", w, " ", n))
						return nil
					})
				}
			})
		}
		faults.Go(func() { strikeJournal(ctx, zk, proxy, operator, over) })
	}
	all.Wait()
	close(over)
	faults.Wait()
	require.NoError(t, ctx.Err())
	j.check(t, zk)
	t.Logf("%d entries, %d unknown", len(j.told), j.unknown)
}

// strikeJournal strikes one client until all is over, with one fault after the other.
func strikeJournal(ctx context.Context, zk *servers, proxy *rig.Proxy, operator *locks.Client, over <-chan struct{}) {
	for {
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
