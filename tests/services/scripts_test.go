package services

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/turnstile-locks/turnstile/locks"
	"github.com/turnstile-locks/turnstile/tests/rig"
)

// order is a command for a script.
type order struct {
	Ability Ability
	Connect string        // to servers, for a process
	Path    string        // of the lock
	Timeout time.Duration // of the session
	Hold    time.Duration // WithMaxHold
	Rejoins bool          // the member of a group is to join again before it is told to end
}

// valueOf is the node that Txn creates, beside the lock path.
func valueOf(path string) string { return path + "-value" }

// script uses an ability, says what it is told, and ends when it is told to. It says first that it holds.
type script func(ctx context.Context, client *locks.Client, o order, say func(string), end <-chan struct{})

var scripts = map[Ability]script{Do: doWork, Run: lead, OnChange: hear, MaxHold: holdShortly, Txn: write, Group: join}

// holds is a script's report of a grant.
func holds(lease *locks.Lease) string {
	return fmt.Sprint("holds ", int64(lease.Token()), lease.Session())
}

// named gives the sentinels that an error wraps.
func named(err error) string {
	if err == nil {
		return "nil"
	}
	var names []string
	for _, s := range []struct {
		name string
		err  error
	}{
		{"max hold", locks.ErrMaxHold}, {"lost", locks.ErrLost}, {"revoked", locks.ErrRevoked},
		{"released", locks.ErrReleased},
		{"unconfirmed", locks.ErrUnconfirmed}, {"unknown", locks.ErrUnknownOutcome}, {"closed", locks.ErrClosed},
		{"canceled", context.Canceled},
	} {
		if errors.Is(err, s.err) {
			names = append(names, s.name)
		}
	}
	if names == nil {
		return err.Error()
	}
	return strings.Join(names, " and ")
}

func doWork(ctx context.Context, client *locks.Client, o order, say func(string), end <-chan struct{}) {
	err := locks.Do(ctx, client.Mutex(o.Path), func(ctx context.Context, _ locks.Token) error {
		say(holds(locks.LeaseOf(ctx)))
		select {
		case <-ctx.Done():
			say("the work's context ends: " + named(context.Cause(ctx)))
		case <-end:
			say("the work is done")
		}
		return nil
	})
	say("Do returns: " + named(err))
}

func lead(ctx context.Context, client *locks.Client, o order, say func(string), end <-chan struct{}) {
	ctx, stop := context.WithCancel(ctx)
	defer stop()
	go func() {
		select {
		case <-end:
			stop()
		case <-ctx.Done():
		}
	}()
	err := client.Election(o.Path).Run(ctx, "it", func(ctx context.Context, term *locks.Leadership) error {
		say(holds(term.Lease))
		<-ctx.Done()
		say("the term ends: " + named(context.Cause(ctx)))
		return nil
	})
	say("Run returns: " + named(err))
}

func hear(ctx context.Context, client *locks.Client, o order, say func(string), end <-chan struct{}) {
	holding(ctx, client.Mutex(o.Path, locks.WithOnChange(func(c locks.Change) {
		if c.Err != nil {
			say(string(c.Kind) + ": " + named(c.Err))
			return
		}
		say(string(c.Kind))
	})), say, func(*locks.Lease) { <-end })
}

func holdShortly(ctx context.Context, client *locks.Client, o order, say func(string), end <-chan struct{}) {
	holding(ctx, client.Mutex(o.Path, locks.WithMaxHold(o.Hold)), say, func(lease *locks.Lease) {
		<-lease.Context().Done()
		say("the hold ends: " + named(context.Cause(lease.Context())))
		<-end
	})
}

func write(ctx context.Context, client *locks.Client, o order, say func(string), end <-chan struct{}) {
	holding(ctx, client.Mutex(o.Path), say, func(lease *locks.Lease) {
		<-end
		_, err := lease.Txn(ctx, locks.Create(valueOf(o.Path), nil))
		say("Txn returns: " + named(err))
	})
}

// holding locks, and unlocks when work has returned.
func holding(ctx context.Context, locker locks.Locker, say func(string), work func(*locks.Lease)) {
	lease, err := locker.Lock(ctx)
	if err != nil {
		say("Lock returns: " + named(err))
		return
	}
	say(holds(lease))
	work(lease)
	err = lease.Unlock(ctx)
	for errors.Is(err, locks.ErrUnconfirmed) { // the lease is over, and the servers have not been heard yet
		rig.Rest(ctx, 20*time.Millisecond)
		err = lease.Unlock(ctx)
	}
	say("Unlock returns: " + named(err))
}

func join(ctx context.Context, client *locks.Client, o order, say func(string), end <-chan struct{}) {
	member, err := client.Group(o.Path).Join(ctx, "it")
	if err != nil {
		say("Join returns: " + named(err))
		return
	}
	was := member.ID()
	say("joined " + was)
	<-end
	for n := 0; o.Rejoins && member.ID() == was && n < 6000; n++ { // others see it a moment before it knows itself
		rig.Rest(ctx, 10*time.Millisecond)
	}
	if member.ID() == was {
		say("it is the same member")
	} else {
		say("it is another member")
	}
	say("Leave returns: " + named(member.Leave(ctx)))
}
