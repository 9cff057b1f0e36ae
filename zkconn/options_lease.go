package zkconn

import (
	"fmt"
	"time"
)

// WithServerTick says what the servers' tickTime is, where that is known. Every server must have
// this tick, or a shorter one. A lease then lasts longer: the default allows for a tick of half the
// session timeout. If the given tick is longer than the servers', leases are only shorter than they
// could be. If it is shorter, two clients may hold one lock.
func WithServerTick(tick time.Duration) Option {
	return func(c *Config) error {
		if tick <= 0 {
			return fmt.Errorf("%w: server tick %v: must be positive", ErrBadConfig, tick)
		}
		c.serverTick = tick
		return nil
	}
}

// WithoutIdleSyncs sends no syncs while no lease is to last. By default one goes out every sixth of a
// session timeout, so that the first lock after a pause is granted in one round trip. With this
// option the chain of evidence breaks after a pause of 0.9 of a session timeout. The next lock then
// begins another session: three round trips more. It does so after half a session timeout already,
// because no proof would come before the end.
func WithoutIdleSyncs() Option {
	return func(c *Config) error { c.withoutIdleSyncs = true; return nil }
}

// WithSuspendedTime sets the source of the time for which the machine has been suspended since some
// moment. It must never give less than before, and may be called from any goroutine. By default the
// system's clocks tell: CLOCK_BOOTTIME on Linux; elsewhere whatever the wall clock gains on the
// monotonic one counts as suspended. It is for tests, and for machines whose clocks stand still in
// another way.
func WithSuspendedTime(suspended func() time.Duration) Option {
	return func(c *Config) error {
		if suspended == nil {
			return fmt.Errorf("%w: suspended time: must not be nil", ErrBadConfig)
		}
		c.suspended = suspended
		return nil
	}
}
