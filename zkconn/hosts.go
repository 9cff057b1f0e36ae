package zkconn

import (
	"context"
	"math/rand/v2"
	"net"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"github.com/turnstile-locks/turnstile/zkconn/retry"
)

type host struct {
	name    string // of the server as configured, without the port
	address string // host:port, resolved where possible
	label   string // for people: as configured, and the address where that differs
}

// hosts is the library's HostProvider: it says which server comes next.
//
// It goes in rounds: each resolves the names and tries every address once, in random order. Waits
// between rounds grow exponentially, with jitter. After the loss of a connection on which a server
// had answered, a round begins at once, so with one server a cut costs milliseconds; the library's
// own provider sleeps a second. After another loss it does so only once in the longest backoff, and
// never after a refused credential: such a client would dial as fast as the network allows
// (measured: 1 700 times a second). See also [Conn.Urgent].
//
// Next tells the library to "retry from the start" only when the Conn is over or closed. The
// library then fails the queued requests, sleeps a second at most, and looks whether it was closed,
// as it does nowhere else while it cannot connect.
//
// The library's connecting goroutine calls its methods, except close and those that only set a
// flag. Dialing, on that goroutine, may take further addresses of the round.
type hosts struct {
	servers []string
	found   *foundServers                                            // and these; nil for none
	resolve func(ctx context.Context, name string) ([]string, error) // nil: names are handed over as they are
	over    func() bool
	ctx     context.Context
	cancel  context.CancelFunc
	timeout time.Duration

	wait     *retry.Pauses
	maxWait  time.Duration
	urgency  *urgency
	queue    []host
	rounds   int
	lastFree time.Time // when a connection of no use last began a round at once

	connected bool        // since the last Next
	answered  atomic.Bool // a server answered on the newest connection
	refused   atomic.Bool // a server refused a credential on it

	mu      sync.Mutex // current is read by others; names are resolved side by side
	current host
	known   map[string][]host // of each server, as last resolved
}

func newHosts(cfg Config, over func() bool) *hosts {
	h := &hosts{
		servers: cfg.servers, found: cfg.found, over: over, timeout: cfg.dialTimeout(),
		wait: retry.Rounds(cfg.initialBackoff, cfg.maxBackoff).Begin(), maxWait: cfg.maxBackoff, current: configuredHost(cfg.servers[0]),
		known: map[string][]host{}, urgency: newUrgency(cfg.SessionTimeout),
	}
	h.ctx, h.cancel = context.WithCancel(context.Background())
	if cfg.dial == nil {
		h.resolve = net.DefaultResolver.LookupHost
	}
	return h
}

// Init ignores its argument, the same servers shuffled: Next resolves names.
func (h *hosts) Init([]string) error { return nil }

func (h *hosts) Len() int { return len(h.servers) }

func (h *hosts) Connected() {
	h.connected = true
	h.answered.Store(false)
	h.refused.Store(false)
}

func (h *hosts) Next() (server string, retryStart bool) {
	if h.isOver() {
		return h.currentHost().address, true
	}
	if h.connected {
		h.connected = false
		h.urgency.pauses = nil // the next are of this loss
		if h.deservesRetry(time.Now()) {
			h.wait.Reset()
			h.rounds, h.queue = 0, nil
		}
		if h.refused.Load() || h.answered.Load() {
			h.urgency.refused = h.refused.Load()
		}
		h.refused.Store(false)
	}
	if len(h.queue) == 0 {
		if h.rounds > 0 && !h.pauseBetweenRounds() {
			return h.currentHost().address, true
		}
		h.beginRound()
	}
	next := h.take()
	h.choose(next)
	return next.address, false
}

func (h *hosts) take() host {
	next := h.queue[0]
	h.queue = h.queue[1:]
	return next
}

// takeUntried takes the next host that was not dialed lately. A server that does not answer is dialed
// again each twentieth of the session timeout: the kernel repeats a dropped packet after a second at the earliest.
func (h *hosts) takeUntried(begun map[string]time.Time) (next host, some bool) {
	if len(h.queue) == 0 {
		h.beginRound()
	}
	for len(h.queue) > 0 && !some {
		next = h.take()
		some = time.Since(begun[next.address]) >= h.urgency.timeout()/overlapsPerTimeout
	}
	return next, some
}

func (h *hosts) choose(next host) {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.current = next
}

func (h *hosts) deservesRetry(now time.Time) bool {
	switch {
	case h.refused.Load():
		return false
	case h.answered.Load():
		return true
	case h.lastFree.IsZero() || now.Sub(h.lastFree) >= h.maxWait:
		h.lastFree = now
		return true
	}
	return false
}

// pauseBetweenRounds waits, and reports whether to go on. A wait becomes short when reconnecting
// becomes urgent.
func (h *hosts) pauseBetweenRounds() bool {
	var wait time.Duration
	var changed <-chan struct{}
	if h.urgency.urgent() {
		wait = h.urgency.pause()
	} else {
		wait, changed = h.wait.Next(), h.urgency.changed
	}
	timer := time.NewTimer(wait)
	defer timer.Stop()
	for {
		select {
		case <-timer.C:
			return !h.isOver()
		case <-h.ctx.Done():
			return false
		case <-changed:
			if h.urgency.urgent() {
				timer.Reset(h.urgency.pause())
				changed = nil
			}
		}
	}
}

// beginRound resolves and shuffles; the server that was tried last comes last.
func (h *hosts) beginRound() {
	h.rounds++
	servers := slices.Concat(h.servers, h.found.list())
	found := make([][]host, len(servers))
	var resolving sync.WaitGroup
	for i, server := range servers {
		resolving.Go(func() { found[i] = h.addresses(configuredHost(server)) })
	}
	resolving.Wait()
	round := slices.Concat(found...)
	rand.Shuffle(len(round), func(i, j int) { round[i], round[j] = round[j], round[i] })
	last := h.currentHost().address
	isLast := func(one host) bool { return one.address == last }
	h.queue = append(slices.DeleteFunc(slices.Clone(round), isLast), slices.DeleteFunc(round, func(one host) bool { return !isLast(one) })...)
}

// addresses resolves a server. A name that cannot be resolved is handed on, for dialing to tell
// why; while reconnecting is urgent, its last addresses stand in.
func (h *hosts) addresses(server host) []host {
	if h.resolve == nil || net.ParseIP(server.name) != nil {
		return []host{server}
	}
	h.mu.Lock()
	before := h.known[server.address]
	h.mu.Unlock()
	timeout, urgent := h.timeout, h.urgency.urgent()
	if urgent {
		timeout = min(timeout, h.urgency.overlap())
	}
	ctx, cancel := context.WithTimeout(h.ctx, timeout)
	defer cancel()
	ips, err := h.resolve(ctx, server.name)
	switch {
	case (err != nil || len(ips) == 0) && urgent && before != nil:
		return before
	case err != nil || len(ips) == 0:
		return []host{server}
	}
	_, port, _ := net.SplitHostPort(server.address)
	var all []host
	for _, ip := range ips {
		address := net.JoinHostPort(ip, port)
		all = append(all, host{name: server.name, address: address, label: server.address + " (" + address + ")"})
	}
	h.mu.Lock()
	defer h.mu.Unlock()
	h.known[server.address] = all
	return all
}

func configuredHost(server string) host {
	name, _, _ := net.SplitHostPort(server)
	return host{name: name, address: server, label: server}
}

func (h *hosts) currentHost() host {
	h.mu.Lock()
	defer h.mu.Unlock()
	return h.current
}

func (h *hosts) name() string  { return h.currentHost().name }
func (h *hosts) label() string { return h.currentHost().label }
func (h *hosts) isOver() bool  { return h.ctx.Err() != nil || h.over() }
func (h *hosts) close()        { h.cancel() }
