package embedded_test

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"github.com/turnstile-locks/turnstile/zkconn/embedded"
)

// A session ends at the first tick at or after its timeout, and at no other: not at the tick before, and
// not between ticks. Tests that reckon with virtual time rely on the moment.
func TestSessionExpiresAtTheFirstTickAfterItsTimeout(t *testing.T) {
	for name, test := range map[string]struct{ opened, timeout, expires time.Duration }{
		"at a tick":            {0, 500 * time.Millisecond, 500 * time.Millisecond},
		"between two":          {30 * time.Millisecond, 500 * time.Millisecond, 600 * time.Millisecond},
		"just after one":       {1 * time.Millisecond, 499 * time.Millisecond, 500 * time.Millisecond},
		"just too late for it": {1 * time.Millisecond, 500 * time.Millisecond, 600 * time.Millisecond},
	} {
		t.Run(name, func(t *testing.T) {
			s, clock := frozen(t)
			clock.Advance(test.opened)
			openRaw(t, s, 0, test.timeout)
			clock.Advance(test.expires - test.opened - 1)
			require.Len(t, s.Sessions(), 1, "a nanosecond early")
			clock.Advance(1)
			require.Empty(t, s.Sessions())
		})
	}
}

// Everything that a client sends gives its session another full timeout: pings, reads and writes
// alike.
func TestSessionIsKeptAliveByRequests(t *testing.T) {
	s, clock := frozen(t)
	c := openRaw(t, s, 0, time.Second)
	for range 20 {
		clock.Advance(900 * time.Millisecond)
		c.ping()
		clock.Advance(900 * time.Millisecond)
		c.exists("/")
		clock.Advance(900 * time.Millisecond)
		c.call(embedded.OpSetData, "/", []byte("x"), anyVersion).must()
	}
	clock.Advance(999 * time.Millisecond)
	require.Len(t, s.Sessions(), 1)
	clock.Advance(100 * time.Millisecond)
	require.Empty(t, s.Sessions())
}

// An expired session's ephemeral nodes go in one transaction, so that nobody ever sees a part of
// them gone; their watchers are told of each, and the connection is closed. Other sessions' nodes
// stay.
func TestExpiryRemovesEphemeralsInOneTransaction(t *testing.T) {
	s, clock := frozen(t)
	watcher := openRaw(t, s, 0, time.Minute)
	watcher.create("/p", plain)
	watcher.create("/mine", ephemeral)
	dying := openRaw(t, s, 0, time.Second)
	want := []string{}
	for _, name := range []string{"a", "b", "c"} {
		path := dying.create("/p/"+name, ephemeral)
		require.Equal(t, dying.session, watcher.stat(path).owner)
		watcher.call(embedded.OpExists, path, true).must()
		want = append(want, "deleted "+path)
	}
	watcher.call(embedded.OpGetChildren, "/p", true).must()
	before := watcher.call(embedded.OpPing).zxid

	clock.Advance(time.Second)
	require.Equal(t, []int64{watcher.session}, s.Sessions())
	events := []string{}
	for range 4 {
		events = append(events, watcher.event())
	}
	require.ElementsMatch(t, append(want, "children /p"), events)
	require.Equal(t, before+1, watcher.call(embedded.OpPing).zxid, "one transaction")
	require.Empty(t, watcher.children("/p"))
	require.Equal(t, before+1, watcher.stat("/p").pzxid)
	require.True(t, watcher.exists("/mine"))
	dying.closed()
}

// A session that has expired is not given back, and its client is told so by a session id of zero.
func TestExpiredSessionCannotBeResumed(t *testing.T) {
	s, clock := frozen(t)
	old := openRaw(t, s, 0, time.Second)
	old.leave()
	clock.Advance(999 * time.Millisecond)
	again := dialRaw(t, s, 0)
	require.True(t, again.resume(old), "in time")
	require.Equal(t, old.session, again.session)
	clock.Advance(time.Second)
	require.Len(t, s.Sessions(), 1, "the handshake gave it its full time")
	clock.Advance(time.Millisecond)
	require.Empty(t, s.Sessions())
	late := dialRaw(t, s, 0)
	require.False(t, late.resume(old))
	late.closed()
	wrong := dialRaw(t, s, 0)
	live := openRaw(t, s, 0, time.Second)
	live.password[0]++
	require.False(t, wrong.resume(live), "nor is a live one given to who does not know its password")
	wrong.closed()
	require.Len(t, s.Sessions(), 1)
}

// The server gives what was asked for, within its bounds: by default two ticks and a minute.
func TestNegotiatedTimeout(t *testing.T) {
	type asked map[time.Duration]time.Duration
	for name, test := range map[string]struct {
		opts []embedded.Option
		gets asked
	}{
		"default": {nil, asked{time.Millisecond: 200 * time.Millisecond, 0: 200 * time.Millisecond,
			-time.Second: 200 * time.Millisecond, 200 * time.Millisecond: 200 * time.Millisecond,
			1234 * time.Millisecond: 1234 * time.Millisecond, time.Minute: time.Minute, time.Hour: time.Minute}},
		"by the tick": {[]embedded.Option{embedded.WithTick(2 * time.Second)}, asked{time.Second: 4 * time.Second}},
		"told": {[]embedded.Option{embedded.WithSessionTimeouts(3*time.Second, 5*time.Second)},
			asked{time.Second: 3 * time.Second, 4 * time.Second: 4 * time.Second, 6 * time.Second: 5 * time.Second}},
	} {
		t.Run(name, func(t *testing.T) {
			s, _ := frozen(t, test.opts...)
			for ask, get := range test.gets {
				require.Equal(t, get, openRaw(t, s, 0, ask).timeout, "asked for %v", ask)
			}
		})
	}
}

// A client may ask for another timeout when it comes back, and the new timeout counts from then on.
func TestTimeoutIsNegotiatedAgain(t *testing.T) {
	s, clock := frozen(t)
	old := openRaw(t, s, 0, time.Second)
	again := dialRaw(t, s, 0)
	again.greet(0, 3*time.Second, old.session, old.password)
	require.True(t, again.welcomed())
	require.Equal(t, 3*time.Second, again.timeout)
	clock.Advance(2900 * time.Millisecond)
	require.Len(t, s.Sessions(), 1)
	clock.Advance(100 * time.Millisecond)
	require.Empty(t, s.Sessions())
}

// Expire ends a session as its timeout would: ephemerals gone, watchers told, connection closed. There must
// be such a session.
func TestExpireOnDemand(t *testing.T) {
	s, _ := frozen(t)
	watcher := openRaw(t, s, 0, time.Minute)
	victim := openRaw(t, s, 0, time.Minute)
	victim.create("/e", ephemeral)
	watcher.call(embedded.OpExists, "/e", true).must()
	require.NoError(t, s.Expire(victim.session))
	require.Equal(t, "deleted /e", watcher.event())
	victim.closed()
	require.ErrorContains(t, s.Expire(victim.session), "no session")
	require.ErrorContains(t, s.Expire(42), "0x2a")
	require.False(t, dialRaw(t, s, 0).resume(victim))
}

// Sessions lists the living sessions in the order of opening, also when others have ended in
// between.
func TestSessionsInOrder(t *testing.T) {
	s, _ := frozen(t)
	require.Empty(t, s.Sessions())
	var want []int64
	for i := range 20 {
		c := openRaw(t, s, 0, time.Minute)
		if i%3 == 0 {
			require.NoError(t, s.Expire(c.session))
			continue
		}
		want = append(want, c.session)
	}
	require.Equal(t, want, s.Sessions())
	leaver := openRaw(t, s, 0, time.Minute)
	leaver.call(embedded.OpCloseSession).must()
	leaver.closed()
	require.Equal(t, want, s.Sessions())
}
