package gocronlocks

import (
	"context"
	"errors"
	"sync/atomic"

	"github.com/turnstile-locks/turnstile/locks"
)

// Elector is gocron's Elector: the process that leads runs all jobs, and the others none. It
// campaigns from NewElector to Stop. A new leader goes on with its own schedule, by its own clock.
type Elector struct {
	election *locks.Election
	term     atomic.Pointer[locks.Leadership]
	stop     context.CancelFunc
	over     chan struct{}
	err      error // of campaigning; set before over is closed
}

// errNotLeader tells gocron not to run a job here.
var errNotLeader = errors.New("another process leads")

// NewElector campaigns until ctx ends, or Stop. People see the leader under name: see
// locks.Election.Campaign.
func NewElector(ctx context.Context, election *locks.Election, name string) *Elector {
	ctx, stop := context.WithCancel(ctx)
	e := &Elector{election: election, stop: stop, over: make(chan struct{})}
	go func() {
		defer close(e.over)
		e.err = election.Run(ctx, name, func(ctx context.Context, term *locks.Leadership) error {
			e.term.Store(term)
			<-ctx.Done()
			return nil
		})
	}()
	return e
}

// IsLeader is nil while this process leads, by the clock of its lease. gocron asks before each run.
// The error says that another process leads, and wraps the error of the campaign where that is
// over.
func (e *Elector) IsLeader(context.Context) error {
	select {
	case <-e.over:
		return errors.Join(errNotLeader, e.err)
	default:
	}
	if !e.election.IsLeader() {
		return errNotLeader
	}
	return nil
}

// Token is the fencing token of the newest term of this process; zero before the first.
func (e *Elector) Token() locks.Token {
	if term := e.term.Load(); term != nil {
		return term.Token()
	}
	return 0
}

// Stop resigns, and returns when that is done. It does not wait for jobs: shut the scheduler down
// first.
func (e *Elector) Stop() {
	e.stop()
	<-e.over
}
