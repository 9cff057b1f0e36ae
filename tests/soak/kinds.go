package main

import (
	"math/rand/v2"
	"time"
)

// lockKind is the use of a lock path.
type lockKind uint8

const (
	mutexKind     lockKind = iota
	stickyKind             // a mutex whose node is retained for a while after Unlock
	readWriteKind          // readers share it
	semaphoreKind          // with semaphorePermits permits
	cohortKind             // a mutex whose node serves up to cohortGrants grants in a row
)

const (
	semaphorePermits = 2
	cohortGrants     = 4
	// One request for a read/write lock in writeEvery is a writer's.
	writeEvery = 3
)

// Of Turnstile's busy locks one in eight is a read/write lock, one a semaphore, and two are held in cohorts; of its calm locks every
// second is sticky. The other peers have mutexes only.
func (o options) kindOf(lock int) lockKind {
	switch {
	case o.peer != peerTurnstile:
	case lock >= o.locks && (lock-o.locks)%2 == 0:
		return stickyKind
	case lock >= o.locks:
	case lock%8 == 2:
		return readWriteKind
	case lock%8 == 5:
		return semaphoreKind
	case lock%8 == 7 || lock%8 == 0:
		return cohortKind
	}
	return mutexKind
}

// want is a worker's request.
type want struct {
	path   string
	kind   lockKind
	mode   mode
	sticky time.Duration // for which a node is retained
}

// want draws how a lock is to be held.
func (o options) want(lock int, rng *rand.Rand) want {
	w := want{path: lockPath(lock), kind: o.kindOf(lock), mode: exclusive}
	switch w.kind {
	case readWriteKind:
		if rng.IntN(writeEvery) != 0 {
			w.mode = reading
		}
	case semaphoreKind:
		w.mode = permit
	case stickyKind:
		w.sticky = o.session
	}
	return w
}

// all is the number of locks, busy and calm.
func (o options) allLocks() int { return o.locks + o.calmLocks }

// calmClient reports whether a client is one whose workers pause between requests, so that its session is idle at
// times and its locks are mostly free.
func (o options) calmClient(client int) bool { return client >= o.clients }
