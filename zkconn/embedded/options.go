package embedded

import (
	"fmt"
	"time"
)

// settings are the options of Start, with their defaults.
type settings struct {
	listen     []string
	memory     bool
	size       int
	tickTime   time.Duration
	minTimeout time.Duration
	maxTimeout time.Duration
	syncLimit  int
	maxFrame   int
	maxUnsent  int
	reapEvery  time.Duration
	clock      Clock
	hook       func(Request) Action

	sasl         func(user string) (password string, known bool) // nil: no SASL; a function, so that no printer finds passwords
	saslRequired bool
	unfit        error // the newest fault that an option found
}

// Option changes how a server is started.
type Option func(*settings)

// WithListen sets the address, host:port, in place of a free port on loopback. With several
// replicas it takes one for each.
func WithListen(addrs ...string) Option { return func(s *settings) { s.listen = addrs } }

// WithoutNetwork opens no port: the server is reached through Dialer only. It is for tests in a synctest
// bubble, where a pending read from the network would stop the clock.
func WithoutNetwork() Option { return func(s *settings) { s.memory = true } }

// WithReplicas makes an ensemble of n replicas instead of a server alone.
func WithReplicas(n int) Option { return func(s *settings) { s.size = n } }

// WithTick sets the tick, 100 ms by default: sessions expire at ticks.
func WithTick(d time.Duration) Option { return func(s *settings) { s.tickTime = d } }

// WithSessionTimeouts bounds what clients may ask for: by default two ticks to a minute.
func WithSessionTimeouts(least, most time.Duration) Option {
	return func(s *settings) { s.minTimeout, s.maxTimeout = least, most }
}

// WithSyncLimit sets for how many ticks a leader and a follower may not hear of each other before
// they part: five by default, as in the configuration that comes with ZooKeeper.
func WithSyncLimit(ticks int) Option { return func(s *settings) { s.syncLimit = ticks } }

// WithMaxFrame bounds the size of a request, in bytes: 1 048 575 by default, as jute.maxbuffer
// does.
func WithMaxFrame(bytes int) Option { return func(s *settings) { s.maxFrame = bytes } }

// WithReapInterval sets the time between reaps of containers and nodes with a time to live: a
// minute by default.
func WithReapInterval(d time.Duration) Option { return func(s *settings) { s.reapEvery = d } }

// WithClock takes the time from a clock, such as a ManualClock.
func WithClock(c Clock) Option { return func(s *settings) { s.clock = c } }

// WithHook calls a function for every request. It is called with the server's lock held: it must be
// quick and must not call the server. Replies for which it returns HoldReplies are held as long as
// the connection lasts, and Refuse and RefusePart answer with ThrottledOp (-127).
func WithHook(hook func(Request) Action) Option { return func(s *settings) { s.hook = hook } }

const defaultMaxFrame = 0xfffff

func newSettings(opts []Option) (settings, error) {
	s := settings{size: 1, tickTime: 100 * time.Millisecond, maxTimeout: time.Minute, syncLimit: 5, maxFrame: defaultMaxFrame,
		maxUnsent: maxUnsent, reapEvery: time.Minute, clock: systemClock{}}
	for _, opt := range opts {
		opt(&s)
	}
	if s.minTimeout == 0 {
		s.minTimeout = 2 * s.tickTime
	}
	switch {
	case s.unfit != nil:
		return s, s.unfit
	case s.size < 1 || s.size > 255:
		return s, fmt.Errorf("embedded: %d replicas: there must be 1 to 255", s.size)
	case s.tickTime < time.Millisecond || s.reapEvery <= 0:
		return s, fmt.Errorf("embedded: tick %v, reaping every %v: a tick is at least a millisecond", s.tickTime, s.reapEvery)
	case s.minTimeout < 0 || s.maxTimeout < s.minTimeout:
		return s, fmt.Errorf("embedded: session timeouts from %v to %v", s.minTimeout, s.maxTimeout)
	case s.syncLimit < 1:
		return s, fmt.Errorf("embedded: a sync limit of %d ticks", s.syncLimit)
	case s.maxFrame < 1:
		return s, fmt.Errorf("embedded: frames of %d bytes", s.maxFrame)
	case s.clock == nil:
		return s, fmt.Errorf("embedded: no clock")
	case len(s.listen) > 0 && (s.memory || len(s.listen) != s.size):
		return s, fmt.Errorf("embedded: %d addresses for %d replicas", len(s.listen), s.size)
	}
	for i := len(s.listen); i < s.size; i++ {
		addr := "127.0.0.1:0"
		if s.memory {
			addr = fmt.Sprintf("127.0.0.1:%d", 2181+i) // a name, that nothing listens on
		}
		s.listen = append(s.listen, addr)
	}
	return s, nil
}
