// Package carrier carries out the queries of a coordinator at the servers: each [coordinator.Query] becomes
// requests of one connection, and their outcome its [coordinator.Answer]. It decides nothing, and it
// has no state.
package carrier

import (
	"errors"

	"github.com/turnstile-locks/turnstile/actors/internal/coordinator"
	"github.com/turnstile-locks/turnstile/actors/queue"
	"github.com/turnstile-locks/turnstile/zkconn"
	"github.com/turnstile-locks/turnstile/zkconn/sessionfile"
)

// Carrier carries out queries on one connection. Its methods block, and are called from any goroutine.
type Carrier struct {
	Conn *zkconn.Conn
	// File knows the sessions of earlier processes; nil without one.
	File *sessionfile.Successor
	// Wanted reports whether a request has not been given up: no parents are made for others. nil: all are wanted.
	Wanted func(coordinator.RequestID) bool
}

// makeParents makes the lock path of a create, as far as it is missing, while the request wants its node.
func (k Carrier) makeParents(q *coordinator.Create) (zkconn.Parents, error) {
	return k.Conn.MakeParents(q.Spec.Path, func() bool { return k.Wanted == nil || k.Wanted(q.Request) })
}

func madeOf(c zkconn.Created) coordinator.Made {
	return coordinator.Made{Name: c.Name, Czxid: c.Czxid, Place: c.Place}
}

// madeFirst is madeOf for a node that nobody can be before, because it takes the number of a holder.
func madeFirst(c zkconn.Created) coordinator.Made {
	m := madeOf(c)
	m.First = c.Name != ""
	return m
}

func failureOf(err error) (f coordinator.Failure) {
	if err == nil {
		return f
	}
	f.Detail, f.Trouble = err.Error(), zkconn.Trouble(err)
	f.Outcome = zkconn.OutcomeOf(err)
	errors.As(err, &f.Cause)
	if errors.Is(err, queue.ErrNoPermits) {
		f.Outcome, f.Cause = coordinator.Refused, coordinator.NoPermits
	}
	var of *zkconn.Error
	if errors.As(err, &of) {
		f.Path = of.Path
	}
	return f
}

// ownerData gives the data of a contender's node: whose it is, and at which place of a transaction it was made. The name
// of a contest's tells neither the request nor the guard.
func ownerData(sp *coordinator.Spec, place int, guid string) []byte {
	o := OwnerOf(sp)
	if o.Place = place; sp.One != "" {
		o.ID, o.Guard = sp.ID, sp.Guard(guid)
	}
	return o.Encode()
}

// OwnerOf describes a request, as the data of its node do.
func OwnerOf(sp *coordinator.Spec) queue.Owner {
	o := queue.OwnerHere(sp.By)
	o.Owner, o.Caller, o.Label, o.Reclaim = sp.Want.Owner, sp.Want.Caller, sp.Want.Label, sp.Want.Reclaim
	o.Priority, o.Mode = sp.Want.Priority, sp.Want.Mode.String()
	o.Detects, o.Since = sp.Want.Deadlocks.Every > 0, sp.Since.UTC()
	return o
}
