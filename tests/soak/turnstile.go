package main

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"sync"
	"time"

	"github.com/asynkron/protoactor-go/actor"

	"github.com/turnstile-locks/turnstile/locks"
	"github.com/turnstile-locks/turnstile/messages"
	"github.com/turnstile-locks/turnstile/tests/journal"
)

// turnstile is a client of ours.
type turnstile struct {
	client  *locks.Client
	watcher *actor.PID

	mu       sync.Mutex
	sessions map[int64]bool
}

func openTurnstile(ctx context.Context, o options, log *slog.Logger) (*turnstile, error) {
	client, err := locks.Open(ctx, o.servers, locks.WithSessionTimeout(o.session), locks.WithLogger(log))
	if err != nil {
		return nil, err
	}
	t := &turnstile{client: client, sessions: map[int64]bool{}}
	t.watcher = client.System().Root.Spawn(actor.PropsFromFunc(t.observe))
	return t, nil
}

// observe notes the sessions that requests went through.
func (t *turnstile) observe(ctx actor.Context) {
	if transition, ok := ctx.Message().(*messages.Transition); ok && transition.Session != 0 {
		t.mu.Lock()
		defer t.mu.Unlock()
		t.sessions[transition.Session] = true
	}
}

func (t *turnstile) Lock(ctx context.Context, w want) (hold, error) {
	lease, err := t.acquire(ctx, w)
	if err != nil {
		return nil, err
	}
	return leased{lease}, nil
}

func (t *turnstile) acquire(ctx context.Context, w want) (*locks.Lease, error) {
	observed := locks.WithObserver(t.watcher)
	switch {
	case w.kind == semaphoreKind:
		return t.client.Semaphore(w.path, semaphorePermits, observed).Acquire(ctx, 1)
	case w.kind == readWriteKind && w.mode == reading:
		return t.client.RWMutex(w.path, observed).RLock(ctx)
	case w.kind == readWriteKind:
		return t.client.RWMutex(w.path, observed).Lock(ctx)
	case w.kind == cohortKind:
		return t.client.Mutex(w.path, observed, locks.WithCohort(cohortGrants)).Lock(ctx)
	case w.kind == stickyKind:
		return t.client.Mutex(w.path, observed, locks.WithSticky(w.sticky)).Lock(ctx)
	}
	return t.client.Mutex(w.path, observed).Lock(ctx)
}

func (t *turnstile) Polls() int { return int(t.client.Session().Counters().Polls) }

func (t *turnstile) SessionsLost() int {
	t.mu.Lock()
	defer t.mu.Unlock()
	return max(len(t.sessions)-1, 0)
}

// Close ends the client. It is no error that the servers could not be told, because the soak makes
// such faults.
func (t *turnstile) Close(ctx context.Context) error {
	if err := t.client.Close(ctx); !errors.Is(err, locks.ErrSessionRemains) {
		return err
	}
	return nil
}

// leased makes a lease a hold.
type leased struct{ *locks.Lease }

func (l leased) Token() int64          { return int64(l.Lease.Token()) }
func (l leased) Deadline() time.Time   { return l.Lease.Deadline() }
func (l leased) Done() <-chan struct{} { return l.Context().Done() }

func (l leased) Commit(ctx context.Context, path, data string) (journal.Outcome, error) {
	_, err := l.Txn(ctx, locks.CreateSequential(path, []byte(data)))
	switch {
	case err == nil:
		return journal.Committed, nil
	case errors.Is(err, locks.ErrUnknownOutcome):
		return journal.Unknown, err
	}
	return journal.Refused, err
}

func (l leased) Unlock(ctx context.Context) error {
	err := l.Lease.Unlock(ctx)
	if errors.Is(err, locks.ErrLost) {
		return fmt.Errorf("%w: %w", errLost, err)
	}
	return err
}
