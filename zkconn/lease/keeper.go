package lease

import (
	"sync"
	"time"
)

// Steady is the part of the session timeout for which a lease runs from the sending of a heartbeat,
// at one every T/6 and with short round trips: 1 − 1/2 − 1/10.
const Steady = 0.4

// Keeper keeps one session and its lease: its connections feed the chain of evidence, and the proofs
// extend the Clock. Its methods may be called from any goroutine.
type Keeper struct {
	Clock *Clock
	// Broken is called once no lease may rest on the session any more, and GivenUp when no server
	// has renewed it for a session timeout after that: each at most once, on any goroutine, without
	// a lock. They must not block.
	Broken, GivenUp func()

	granted   *Shortest
	idleSyncs bool // the chain is kept also while no lease is to last

	mu     sync.Mutex
	chain  *Chain
	wanted bool    // see Want
	owns   bool    // see KeepNodes
	told   Instant // when a lease was wanted, or its owner sent its newest transaction
	newest *Connection
	up     bool
	since  Instant // the connection is up, or down
	stage  stage
	timer  *time.Timer // for the next stage; nil before there is a session

	// No server has answered since the first request after the newest answer, because an idle
	// session asks nothing for up to a third of its timeout, or since the loss of the connection. A
	// loss meanwhile does not begin the silence anew.
	silent   bool
	unheard  Instant
	redialed bool // a mute connection was given up, and none that is no longer new has answered since
}

type stage uint8

const (
	proving stage = iota
	unproved
	abandoned // given up, or closed: nothing more is told
)

// NewKeeper makes the Keeper of a session that is yet to be granted. suspended is as for NewClock.
// tick is the servers' tick, 0 for not known. Without idleSyncs no evidence is gathered while no
// lease is wanted. granted is shared by all sessions with the same servers.
func NewKeeper(suspended func() time.Duration, tick time.Duration, idleSyncs bool, granted *Shortest) *Keeper {
	nothing := func() {}
	clock := NewClock(suspended)
	return &Keeper{Clock: clock, chain: New(tick), granted: granted, idleSyncs: idleSyncs,
		silent: true, unheard: clock.now(), Broken: nothing, GivenUp: nothing}
}

// take gives the chain one input, and carries out what follows: it sets the clock to the end that
// the chain proves, sets the timer, and calls the callbacks.
func (k *Keeper) take(input func(now Instant)) {
	k.mu.Lock()
	now := k.Clock.now()
	input(now)
	tell := k.follow(now)
	k.mu.Unlock()
	for _, t := range tell {
		t()
	}
}

func (k *Keeper) follow(now Instant) (tell []func()) {
	if k.stage == abandoned || k.chain.Timeout() == 0 {
		return nil
	}
	ends := k.chain.Ends()
	if k.stage == proving && (k.chain.Broken(now) || k.Clock.failed.Load()) {
		k.stage = unproved
		k.Clock.End()
		tell = append(tell, k.Broken)
	}
	if until, proved := k.chain.Lease(); proved {
		k.Clock.set(until, now, false)
	}
	if k.stage == unproved {
		// Its last touch lies before the loss of its connection.
		ends = k.since + k.chain.Timeout()
		if !k.up && now >= ends {
			k.stage = abandoned
			return append(tell, k.GivenUp)
		}
	}
	// The timer stands still while the machine is suspended; the first input after that finds the
	// chain broken.
	switch {
	case k.stage == unproved && k.up: // Lost sets it anew
	case k.timer == nil:
		k.timer = time.AfterFunc(ends-now, func() { k.take(func(Instant) {}) })
	default:
		k.timer.Reset(ends - now)
	}
	return tell
}

// Lost ends the connection, whose loss has been noticed.
func (k *Keeper) Lost() {
	k.take(func(now Instant) {
		if k.up {
			k.up, k.since = false, now
		}
		k.asked(now)
		k.chain.Lost(now)
	})
}

// Close ends the Keeper: it tells nothing more.
func (k *Keeper) Close() {
	k.mu.Lock()
	defer k.mu.Unlock()
	k.stage = abandoned
	if k.timer != nil {
		k.timer.Stop()
	}
}

// Proved reports whether a lease may rest on the session. Once false it stays false.
func (k *Keeper) Proved() bool {
	k.mu.Lock()
	defer k.mu.Unlock()
	return !k.chain.Broken(k.Clock.now())
}

// Want sets whether a lease is to last. A session that has asked for no proof for a while may be
// over before the first, and a lease on it would be lost: its chain is broken at once.
func (k *Keeper) Want(lease bool) {
	k.take(func(now Instant) {
		if lease && !k.wanted {
			if k.told = now; !k.owns && !k.idleSyncs && !k.chain.Lasts(now) {
				k.chain.Break()
			}
		}
		k.wanted = lease
		k.newest.keepOn(now)
	})
}

// KeepNodes has the session kept as for a lease: a Txn's ephemeral nodes last as long as it does,
// and no request stands for them.
func (k *Keeper) KeepNodes() {
	k.mu.Lock()
	defer k.mu.Unlock()
	k.owns = true
	k.newest.keepOn(k.Clock.now())
}

// Silence gives for how long no server has answered; zero while nothing is waited for.
func (k *Keeper) Silence() time.Duration {
	k.mu.Lock()
	defer k.mu.Unlock()
	if !k.silent {
		return 0
	}
	return k.Clock.now() - k.unheard
}

// asked: an answer is waited for. k.mu is held.
func (k *Keeper) asked(now Instant) {
	if !k.silent {
		k.silent, k.unheard = true, now
	}
}

// kept gives the purpose for which the session is kept. k.mu is held. A lease is also wanted for a
// request whose node may be left under an unknown name. Nobody sends heartbeats for such a node, so
// its session is kept as one with nodes of a Txn.
func (k *Keeper) kept(now Instant) Keeping {
	silent := now >= k.told+Fraction(k.chain.timeout, commitPace) // longer than the owner should be
	switch {
	case k.wanted && !silent:
		return Leased
	case k.wanted || k.owns:
		return Owning
	}
	return Idle
}

// Shortest is the shortest session timeout that any server of a list has granted, in any session.
type Shortest struct {
	mu sync.Mutex
	d  time.Duration // 0 for none
}

// note takes a timeout that was granted, 0 for none, and gives the shortest.
func (s *Shortest) note(d time.Duration) time.Duration {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.d = shorter(s.d, d)
	return s.d
}
