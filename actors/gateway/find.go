package gateway

import (
	"context"
	"sync"
	"time"

	"github.com/asynkron/protoactor-go/actor"
)

// Finder finds a gateway, or an actor that forwards to one, for a lock path; nil when none is known now.
// again: what it found before does not answer. It is called on a goroutine of its own, and may take its
// time: what waits for it is sent then.
//
// ctx ends after 10 s. What a finder gives after that is dropped, and until it returns it is not called
// for the same path and again: so one that hangs keeps one goroutine, however many wait for it.
type Finder func(ctx context.Context, path string, again bool) *actor.PID

// Find gives gateways that are found when they are needed, as At gives those that are named. A request
// stays with the gateway that has accepted it, also where the finder finds another one meanwhile. When
// it does not answer, or closes, a waiter is sent to what the finder finds then. Package grain has the
// finder for protoactor's clusters. A nil finder panics.
func Find(find Finder) *Gateways {
	if find == nil {
		panic("turnstile: gateway.Find: the finder is nil")
	}
	g := At()
	g.find = &looks{find: find, running: map[sought]*look{}}
	return g
}

// lookBound is how long a look may take: protoactor's cluster tries for five seconds by default, and tries
// three times.
const lookBound = 10 * time.Second

// looks are the looks of a finder that are under way, one at a time for the same thing. Its methods may
// be called from any goroutine.
type looks struct {
	find Finder

	mu      sync.Mutex
	running map[sought]*look
}

// sought is what is looked for.
type sought struct {
	path  string
	again bool
}

// look is one call of the finder. Invariant: once it is late nobody waits for it.
type look struct {
	waits []func(*actor.PID)
	late  bool // its time is over, and the finder has not returned
}

// look looks for a gateway, and calls then, once, on any goroutine. It joins a look that is under way. nil is
// what is found where the finder takes too long.
func (l *looks) look(path string, again bool, then func(*actor.PID)) {
	what := sought{path, again}
	l.mu.Lock()
	defer l.mu.Unlock()
	at := l.running[what]
	switch {
	case at == nil:
		at = &look{waits: []func(*actor.PID){then}}
		l.running[what] = at
		go l.run(what, at)
	case at.late:
		go then(nil)
	default:
		at.waits = append(at.waits, then)
	}
}

func (l *looks) run(what sought, at *look) {
	ctx, stop := context.WithTimeout(context.Background(), lookBound)
	defer stop()
	bound := time.AfterFunc(lookBound, func() { l.tell(at, nil) })
	defer bound.Stop()
	found := l.find(ctx, what.path, what.again)
	l.mu.Lock()
	delete(l.running, what)
	l.mu.Unlock()
	l.tell(at, found)
}

// tell tells those who wait for a look, once.
func (l *looks) tell(at *look, found *actor.PID) {
	l.mu.Lock()
	waits := at.waits
	at.waits, at.late = nil, true
	l.mu.Unlock()
	for _, then := range waits {
		then(found)
	}
}
