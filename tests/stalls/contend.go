package main

import (
	"context"
	"errors"
	"time"

	"github.com/go-zookeeper/zk"

	"github.com/turnstile-locks/turnstile/locks"
)

// contender is a contender for the lock of a trial.
type contender struct {
	side   side
	client *locks.Client
	keep   time.Duration // how long a lease is kept, unless it is lost
	// granted is called when Lock has returned; nil: nothing to do.
	granted func(h *hold)
}

// contend locks once, keeps the lease, and gives it back. It reports whether the
// lock was granted.
func (r *round) contend(t *trial, c contender) bool {
	lease, err := c.client.Mutex(t.path).Lock(r.asking)
	if err != nil {
		if r.asking.Err() == nil {
			r.failed.Add(1)
			r.say("lock %s: %v", t.path, err)
		}
		return false
	}
	h := t.granted(c.side, lease, int64(lease.Token()), c.client.Session().ID())
	if c.granted != nil {
		c.granted(h)
	}
	keeping, cancel := context.WithTimeout(lease.Context(), c.keep)
	defer cancel()
	select {
	case <-keeping.Done():
	case <-r.asking.Done():
	}
	lost := lease.Context().Err() != nil
	t.end(h, lost)
	r.running.Go(func() { r.giveBack(lease) })
	return true
}

// giveBack unlocks, and does not wait for longer than the round has to.
func (r *round) giveBack(lease *locks.Lease) {
	ctx, cancel := context.WithTimeout(r.ctx, 2*r.o.timeout)
	defer cancel()
	_ = lease.Unlock(ctx) // a lease that was lost is counted already
}

// once locks and unlocks, so that the client knows the path: it asks for the lock
// in one request then, with no read in front that a stall could hold back. On a busy
// machine the lease may be lost in between, or the unlock be confirmed later: neither
// matters.
func (r *round) once(ctx context.Context, path string, c *locks.Client) error {
	lease, err := c.Mutex(path).Lock(ctx)
	if err != nil {
		return err
	}
	err = lease.Unlock(ctx)
	if errors.Is(err, locks.ErrLost) || errors.Is(err, locks.ErrUnconfirmed) {
		return nil
	}
	return err
}

// begin contends in the background.
func (r *round) begin(t *trial, c contender) {
	r.running.Go(func() { r.contend(t, c) })
}

// queued waits until the leader has a contender's node in the trial's path, for
// at most d. It reports whether it has.
func (r *round) queued(t *trial, d time.Duration) bool {
	ctx, cancel := context.WithTimeout(r.asking, d)
	defer cancel()
	for {
		children, _, changed, err := r.direct.ChildrenW(t.path)
		if err != nil || len(children) > 0 {
			return err == nil
		}
		select {
		case event := <-changed:
			if event.Type == zk.EventNotWatching {
				return false
			}
		case <-ctx.Done():
			return false
		}
	}
}

// follow lets both clients that the fault does not befall queue behind the
// affected one, or without it after a while, and keep what they are granted.
// granted hears of each grant, and whether it had to wait.
func (r *round) follow(t *trial, patience, keep time.Duration, granted func(waited bool)) {
	r.running.Go(func() {
		waited := r.queued(t, patience)
		for _, c := range []*locks.Client{r.near, r.far} {
			r.begin(t, contender{side: others, client: c, keep: keep, granted: func(*hold) { granted(waited) }})
		}
	})
}
