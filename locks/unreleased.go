package locks

import (
	"context"
	"maps"
	"slices"
	"sync"
	"time"

	"github.com/turnstile-locks/turnstile/zkconn/told"
)

// Unreleased is a lease that has not been given back.
type Unreleased struct {
	Lease *Lease
	// Held is for how long it has been held.
	Held time.Duration
	// Stack is the stack of its call of Lock, as package runtime/debug writes it.
	Stack []byte
}

type openLeases struct {
	after  time.Duration
	report func(Unreleased)

	mu     sync.Mutex
	leases map[*Lease]*openLease
}

type openLease struct {
	granted time.Time
	timer   *time.Timer
}

func (o *openLeases) add(l *Lease) {
	o.mu.Lock()
	o.leases[l] = &openLease{time.Now(), time.AfterFunc(o.after, func() { o.tell(l) })}
	o.mu.Unlock()
}

func (o *openLeases) tell(l *Lease) {
	defer func() {
		if r := recover(); r != nil { // on a goroutine of its own
			told.LogPanic(l.from.client.system.Logger(), "the function of WithUnreleased panicked", r)
		}
	}()
	if open := o.take(l); open != nil {
		o.report(Unreleased{Lease: l, Held: time.Since(open.granted), Stack: l.stack})
	}
}

func (o *openLeases) take(l *Lease) *openLease {
	o.mu.Lock()
	defer o.mu.Unlock()
	open := o.leases[l]
	if open != nil {
		open.timer.Stop()
		delete(o.leases, l)
	}
	return open
}

func (o *openLeases) tellAll(ctx context.Context) {
	done := make(chan struct{})
	go func() {
		defer close(done) // also where the function ends its goroutine
		o.tellOpen()
	}()
	select {
	case <-done:
	case <-ctx.Done():
	}
}

func (o *openLeases) tellOpen() {
	o.mu.Lock()
	all := slices.Collect(maps.Keys(o.leases))
	o.mu.Unlock()
	for _, l := range all {
		o.tell(l)
	}
}
