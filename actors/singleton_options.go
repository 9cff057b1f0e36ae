package actors

import (
	"cmp"
	"fmt"
	"time"

	"github.com/turnstile-locks/turnstile/actors/internal/singleton/shell"
	"github.com/turnstile-locks/turnstile/messages"
)

// SingletonOption changes how a singleton works.
type SingletonOption func(*singletonSettings)

const maxFailures = 1000

type singletonSettings struct {
	shell.Config
	lockOptions []LockOption
}

// WithFailures says how many failures of the child, restarts by its supervisor and ends of its own,
// within so long give the lock to another node: the child is stopped, the lock is given back, and
// this node campaigns again after out. Without it they are 3 in a minute, and out is 10 s.
//
// Fewer than one failure, more than 1 000, or a time of zero or less, is bad input.
func WithFailures(count int, within, out time.Duration) SingletonOption {
	return func(s *singletonSettings) { s.Failures, s.Within, s.Out = count, within, out }
}

// WithBuffer keeps up to so many messages that come while the singleton is nobody's on this node.
// The next child gets them in order, before anything that comes later. Those above the bound, and
// all that are left when the singleton stops, become dead letters. Without it none is kept.
//
// A negative bound is bad input.
func WithBuffer(messages int) SingletonOption {
	return func(s *singletonSettings) { s.Buffer = messages }
}

// WithLockOptions gives options to the lock actor of each campaign: WithObserver names actors that
// follow them all. WithOwner and WithListener are the singleton's own, and have no effect.
func WithLockOptions(opts ...LockOption) SingletonOption {
	return func(s *singletonSettings) { s.lockOptions = append(s.lockOptions, opts...) }
}

// check finds what is wrong with what a singleton is asked to do. The error wraps ErrBadAcquire, or
// is that of CheckAcquire.
func (s *singletonSettings) check(want messages.Acquire) error {
	wrong := func(format string, args ...any) error {
		return fmt.Errorf("%w: a singleton: %s", ErrBadAcquire, fmt.Sprintf(format, args...))
	}
	var err error
	switch {
	case want.Mode != messages.Exclusive:
		err = wrong("mode %v: only a mutex makes an actor single", want.Mode)
	case want.Try || want.Timeout != 0:
		err = wrong("try, or a timeout: it waits for its turn for as long as it runs")
	case want.Sticky != 0:
		err = wrong("sticky for %v: a node that has resigned would keep the lock", want.Sticky)
	case want.Owner != "" || want.Reentry:
		err = wrong("an owner, or reentry: its hold is its own, and is not shared")
	case s.Failures < 1 || s.Within <= 0 || s.Out <= 0:
		err = wrong("%d failures in %v, then out for %v: each must be more than zero", s.Failures, s.Within, s.Out)
	case s.Failures > maxFailures: // a child that cannot be spawned fails that often in one go
		err = wrong("%d failures: at most %d", s.Failures, maxFailures)
	case s.Buffer < 0:
		err = wrong("a buffer of %d messages: it is negative", s.Buffer)
	}
	return cmp.Or(CheckAcquire(want), err)
}
