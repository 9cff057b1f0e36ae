package zkconn

import (
	"sync"
	"time"

	"github.com/turnstile-locks/turnstile/zkconn/internal/evidence"
)

// SteadyLease is the part of the session timeout for which a lease runs from the sending of a
// heartbeat, at one every T/6 and with short round trips: 1 − 1/2 − 1/10, see the package doc.
const SteadyLease = 0.4

// leaseKeeper feeds the chain of evidence (package evidence) of a session, and extends the lease
// clock by its proofs. It tells once that the chain is broken, and once that the session is given
// up.
type leaseKeeper struct {
	clock *LeaseClock
	list  *shortestTimeout
	// idleSyncs: the chain is kept also while no lease is to last.
	idleSyncs bool
	// broken and givenUp are called without a lock, on any goroutine. They must not block.
	broken, givenUp func()

	mu      sync.Mutex
	chain   *evidence.Chain
	lasting bool             // see Conn.KeepLease
	owns    bool             // the session has made ephemeral nodes in a Txn, for which no lease is kept
	told    evidence.Instant // when a lease was wanted, or its owner sent its newest transaction
	up      bool
	since   evidence.Instant
	stage   leaseStage
	timer   *time.Timer // for the next stage; nil before there is a session

	quiet silence
}

type leaseStage uint8

const (
	proving leaseStage = iota
	unproved
	abandoned // given up, or closed: nothing more is told
)

func newLeaseKeeper(cfg Config) *leaseKeeper {
	nothing := func() {}
	clock := NewLeaseClock(cfg.suspended)
	return &leaseKeeper{clock: clock, chain: evidence.New(cfg.serverTick), list: cfg.shortest,
		idleSyncs: cfg.IdleSyncs(), quiet: silence{lasts: true, since: clock.now()},
		broken: nothing, givenUp: nothing}
}

func (k *leaseKeeper) do(take func(now evidence.Instant)) {
	k.mu.Lock()
	now := k.clock.now()
	take(now)
	tell := k.follow(now)
	k.mu.Unlock()
	for _, t := range tell {
		t()
	}
}

// follow sets the lease clock to the end that the chain proves, sets the timer, and gives the
// callbacks to call. k.mu is held.
func (k *leaseKeeper) follow(now evidence.Instant) (tell []func()) {
	if k.stage == abandoned || k.chain.Timeout() == 0 {
		return nil
	}
	ends, _ := k.chain.Ends()
	if k.stage == proving && (k.chain.Broken(now) || k.clock.failed.Load()) {
		k.stage = unproved
		k.clock.End()
		tell = append(tell, k.broken)
	}
	if until, proved := k.chain.Lease(); proved {
		k.clock.set(until, now)
	}
	if k.stage == unproved {
		// Its last touch lies before the loss of its connection.
		ends = k.since + k.chain.Timeout()
		if !k.up && now >= ends {
			k.stage = abandoned
			return append(tell, k.givenUp)
		}
	}
	k.setTimer(ends - now)
	return tell
}

// setTimer has the chain checked when its end is due. The timer stands still while the machine is
// suspended; the first input after that finds the chain broken. k.mu is held.
func (k *leaseKeeper) setTimer(in time.Duration) {
	switch {
	case k.stage == unproved && k.up: // lost sets it anew
	case k.timer == nil:
		k.timer = time.AfterFunc(in, func() { k.do(func(evidence.Instant) {}) })
	default:
		k.timer.Reset(in)
	}
}

func (k *leaseKeeper) lost() {
	k.do(func(now evidence.Instant) {
		if k.up {
			k.up, k.since = false, now
		}
		k.quiet.begin(now)
		k.chain.Lost(now)
	})
}

func (k *leaseKeeper) close() {
	k.mu.Lock()
	defer k.mu.Unlock()
	k.stage = abandoned
	if k.timer != nil {
		k.timer.Stop()
	}
}

func (k *leaseKeeper) proved() bool {
	k.mu.Lock()
	defer k.mu.Unlock()
	return !k.chain.Broken(k.clock.now())
}

// keepLease sets whether a lease is to last. A session that has asked for no proof for a while may
// be over before the first, and a lease on it would be lost: its chain is broken at once.
func (k *leaseKeeper) keepLease(lasting bool) {
	k.do(func(now evidence.Instant) {
		if lasting && !k.lasting && !k.owns && !k.idleSyncs && !k.chain.Lasts(now) {
			k.chain.Break()
		}
		if lasting && !k.lasting {
			k.told = now
		}
		k.lasting = lasting
	})
}

// keepNodes has the session kept as for a lease: a Txn's ephemeral nodes last as long as it does,
// and no request stands for them.
func (k *leaseKeeper) keepNodes() {
	k.mu.Lock()
	defer k.mu.Unlock()
	k.owns = true
}

func (k *leaseKeeper) silence() time.Duration {
	k.mu.Lock()
	defer k.mu.Unlock()
	if !k.quiet.lasts {
		return 0
	}
	return k.clock.now() - k.quiet.since
}

// mute reports, once, whether a new connection is to be given up, because a request has waited for
// an answer for so long. A session that is being closed is waited for.
func (k *leaseKeeper) mute(patience time.Duration) bool {
	k.mu.Lock()
	defer k.mu.Unlock()
	q := &k.quiet
	if k.stage == abandoned || !k.lasting || q.redialed || !q.lasts || k.clock.now()-q.since < patience {
		return false
	}
	q.redialed = true
	return true
}

type roundTrips struct {
	keeper     *leaseKeeper
	connection uint64
	since      evidence.Instant
}

func (r *roundTrips) connecting() {
	r.keeper.do(func(now evidence.Instant) {
		r.connection = r.keeper.chain.Connecting(now, r.keeper.list.with(0))
	})
}

// granted takes the timeout that a server granted to an existing session, and gives the one that
// counts: see evidence.Chain.Granted.
func (r *roundTrips) granted(timeout time.Duration) (counts time.Duration) {
	r.keeper.list.note(timeout)
	r.keeper.do(func(now evidence.Instant) { counts = r.keeper.chain.Granted(now, r.connection, timeout) })
	return counts
}

// connected: the connection has the session, with this timeout. It gives the one that counts.
func (r *roundTrips) connected(timeout time.Duration) (counts time.Duration) {
	r.keeper.list.note(timeout)
	r.keeper.do(func(now evidence.Instant) {
		counts = r.keeper.chain.Connected(now, r.connection, timeout)
		r.since, r.keeper.up, r.keeper.since = now, true, now
		r.keeper.quiet.end()
	})
	return counts
}

// sending records a packet that goes out next. It reports whether a ping should go out before it.
func (r *roundTrips) sending(op, xid int32) (pingFirst bool) {
	r.keeper.mu.Lock()
	defer r.keeper.mu.Unlock()
	now := r.keeper.clock.now()
	r.keeper.quiet.begin(now)
	kind := kindOf(op)
	if kind == evidence.Committed && xid > xidOwn {
		r.keeper.told = now
	}
	return r.keeper.chain.Sending(now, r.connection, xid, kind)
}

func (r *roundTrips) replied(xid int32, v verdict) {
	r.keeper.do(func(now evidence.Instant) {
		r.keeper.quiet.end()
		if now-r.since >= r.keeper.chain.Timeout() {
			r.keeper.quiet.redialed = false
		}
		r.keeper.chain.Replied(now, r.connection, xid, v == decided)
	})
}

// next gives the time until the next round trip is due if nothing else goes out, and whether it is
// to be a transaction. some is false where none is due.
func (r *roundTrips) next() (in time.Duration, committed, some bool) {
	k := r.keeper
	k.mu.Lock()
	defer k.mu.Unlock()
	now := k.clock.now()
	kept := k.kept(now)
	if kept == evidence.Idle && !k.idleSyncs {
		return 0, false, false
	}
	due, committed, some := k.chain.Next(kept)
	return due - now, committed, some
}

// kept gives the purpose for which the session is kept. k.mu is held. A lease is also kept for a
// request whose node may be left under an unknown name. Nobody sends heartbeats for such a node, so
// its session is kept as one with nodes of a Txn.
func (k *leaseKeeper) kept(now evidence.Instant) evidence.Keeping {
	switch {
	case k.lasting && !k.chain.OwnerIsSilent(now, k.told):
		return evidence.Leased
	case k.lasting || k.owns:
		return evidence.Owning
	}
	return evidence.Idle
}
