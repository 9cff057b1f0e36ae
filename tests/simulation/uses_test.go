package simulation

import (
	"context"
	"fmt"
	"math/rand/v2"
	"path"
	"time"

	"github.com/turnstile-locks/turnstile/locks"
	"github.com/turnstile-locks/turnstile/messages"
)

// use names the recipes of a lock path: nobody mixes recipes whose nodes have nothing to do with each other.
type use struct {
	recipe  recipe
	permits int // of a semaphore
	// Of a plan with calls inside: what all ask for alike. Exclusive requests, and readers, have the cohort.
	cohort        int
	sticky, grace time.Duration
}

type recipe int

const (
	exclusive recipe = iota // as all paths of two seeds in five
	varied                  // exclusive, with watchers of everything, a second queue by its name, and reentry
	readWrite
	semaphore
	contest
)

func (u use) String() string {
	text := [...]string{"exclusive", "varied", "read/write", "semaphore", "contest"}[u.recipe]
	if u.permits > 0 {
		text += fmt.Sprintf(" of %d", u.permits)
	}
	return text
}

// contested is the name of the one node of a contest.
const contested = "node"

// newUses draws what the lock paths are for, from numbers of its own.
func newUses(seed uint64, paths int, inside bool) []use {
	rng := rand.New(rand.NewPCG(seed, 0x75736573))
	all := make([]use, paths)
	if inside {
		drawShares(seed, all)
	}
	if rng.IntN(5) < 2 {
		return all
	}
	for i := range all {
		all[i].recipe = varied + recipe(rng.IntN(int(contest)))
		if all[i].recipe == semaphore {
			all[i].permits = 1 + rng.IntN(4)
		}
		if all[i].recipe == readWrite && inside && all[i].cohort == 0 && seed%2 == 0 {
			all[i].cohort = 4
		}
	}
	return all
}

// drawShares draws what the calls of a client share on each lock path: three in four have a cohort, and two in four are kept.
func drawShares(seed uint64, all []use) {
	rng := rand.New(rand.NewPCG(seed, 0x696e73696465))
	for i := range all {
		if rng.IntN(4) > 0 {
			all[i].cohort = 2 + rng.IntN(6)
		}
		all[i].sticky = [...]time.Duration{0, 0, 500 * time.Millisecond, 20 * time.Second}[rng.IntN(4)]
		all[i].grace = [...]time.Duration{0, time.Second}[rng.IntN(2)]
	}
}

// choose completes a wish by the use of the lock path.
func (w *world) choose(want *wish, u use, a action) {
	by := a.c >> 16
	switch u.recipe {
	case varied:
		want.watchAll = by%4 == 0
		if by>>2%4 == 0 {
			want.name = "other"
		}
	case readWrite:
		want.mode = [...]messages.Mode{messages.Read, messages.Read, messages.Write, messages.Write, messages.Exclusive}[by%5]
		if by>>4%6 == 0 {
			want.name = "other"
		}
	case semaphore:
		want.mode, want.permits, want.weight = messages.Semaphore, u.permits, 1+int(by%uint32(u.permits))
	case contest:
		want.mode, want.path = messages.Contest, want.path+"/"+contested
	}
	if u.recipe == exclusive || u.recipe == semaphore || a.b>>16%8 == 0 || w.plan.inside && a.b>>16%4 > 0 {
		return
	}
	// Within the lease of a holder of the lock: once more, or reading where the holder writes.
	outer := w.some(func(r *lockRequest) bool {
		return r.acquired() && r.lease != nil && r.holds() && r.queue() == want.queue() && !r.client.closing
	})
	if len(outer) > 0 {
		want.observed = false // it may have the hold of the outer one
		want.actor, want.within = false, outer[pick(a.b>>20, len(outer))]
		if want.mode != messages.Read || want.within.mode != messages.Write {
			want.mode = want.within.mode
		}
		want.watchAll, want.try = false, false
	}
}

// share has a wish of a plan with calls inside be as the others of its lock path.
func (want *wish) share(u use, by uint32) {
	want.grace = u.grace
	if want.within != nil || want.mode == messages.Semaphore || want.mode == messages.Contest || want.watchAll {
		return
	}
	if want.actor = by%6 == 0; want.actor { // it serves nobody else
		return
	}
	if want.observed, want.cohort = false, u.cohort; want.mode == messages.Exclusive {
		want.sticky = u.sticky
	}
}

// queue is whom a request waits with.
func (want wish) queue() string {
	if want.name != "" {
		return want.path + ":" + want.name
	}
	return want.path
}

// dir is the parent of the nodes.
func (want wish) dir() string {
	if want.mode == messages.Contest {
		return path.Dir(want.path)
	}
	return want.path
}

func (r *lockRequest) nodePath() string { return r.dir() + "/" + r.held.Node }

func (want wish) String() string {
	text := fmt.Sprintf("%s (%v", want.queue(), want.mode)
	switch {
	case want.mode == messages.Semaphore:
		text += fmt.Sprintf(", %d of %d", want.weight, want.permits)
	case want.watchAll:
		text += ", watching all"
	case want.cohort > 0:
		text += fmt.Sprintf(", in cohorts of %d", want.cohort)
	}
	if want.within != nil {
		text += fmt.Sprintf(", within r%d", want.within.number)
	}
	return text + ")"
}

// acquire is the wish as a lock actor takes it.
func (want wish) acquire() messages.Acquire {
	return messages.Acquire{Path: want.path, Mode: want.mode, Name: want.name, Permits: want.permits, Weight: want.weight,
		WatchAll: want.watchAll, Try: want.try, Timeout: want.timeout, Grace: want.grace}
}

// call is the wish as a program calls it.
func (want wish) call(c *locks.Client, opts ...locks.LockOption) func(context.Context) (*locks.Lease, error) {
	if want.name != "" {
		opts = append(opts, locks.WithName(want.name))
	}
	if want.watchAll {
		opts = append(opts, locks.WithWatchAll())
	}
	if want.within != nil {
		opts = append(opts, locks.WithReentry())
	}
	either := func(lock, try func(context.Context) (*locks.Lease, error)) func(context.Context) (*locks.Lease, error) {
		if want.try {
			return try
		}
		return lock
	}
	switch want.mode {
	case messages.Read:
		m := c.RWMutex(want.path, opts...)
		return either(m.RLock, m.TryRLock)
	case messages.Write:
		m := c.RWMutex(want.path, opts...)
		return either(m.Lock, m.TryLock)
	case messages.Contest:
		m := c.Contest(want.path, opts...)
		return either(m.Lock, m.TryLock)
	case messages.Semaphore:
		s := c.Semaphore(want.path, want.permits, opts...)
		return either(
			func(ctx context.Context) (*locks.Lease, error) { return s.Acquire(ctx, want.weight) },
			func(ctx context.Context) (*locks.Lease, error) { return s.TryAcquire(ctx, want.weight) })
	default:
		m := c.Mutex(want.path, opts...)
		return either(m.Lock, m.TryLock)
	}
}
