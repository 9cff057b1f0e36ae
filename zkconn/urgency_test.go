package zkconn

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"
)

// urgentFor makes reconnecting urgent for that long from now.
func urgentFor(h *urgency, d time.Duration) {
	end := time.Now().Add(d)
	h.until = func() time.Time { return end }
	h.set(true)
}

func TestUrgentHostsPauseBrieflyUntilTheLeaseEnds(t *testing.T) {
	for _, timeout := range []time.Duration{500 * time.Millisecond, 4 * time.Second, 10 * time.Second, time.Minute} {
		t.Run(timeout.String(), func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				lease := timeout * 2 / 5
				h := newTestHosts(t, "10.0.0.1", never, WithSessionTimeout(timeout))
				urgentFor(h.urgency, lease)
				next(t, h)
				longest, rounds, start := max(timeout/100, 10*time.Millisecond)*3/2, 0, time.Now()
				for ; time.Since(start) < lease; rounds++ {
					_, took := next(t, h)
					require.Positive(t, took)
					require.LessOrEqual(t, took, longest)
				}
				require.LessOrEqual(t, rounds, 100, "at most 80 pauses of half a hundredth, and the first ones")
				var slow time.Duration
				for range 12 {
					_, slow = next(t, h)
				}
				require.Greater(t, slow, time.Second, "as always, when the lease has ended")
			})
		})
	}
}

func TestUrgencyEndsAPauseThatHasBegun(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		h := newTestHosts(t, "10.0.0.1", never, WithReconnectBackoff(time.Hour, time.Hour))
		next(t, h)
		time.AfterFunc(time.Second, func() { urgentFor(h.urgency, 4*time.Second) })
		_, took := next(t, h)
		require.LessOrEqual(t, took, time.Second+150*time.Millisecond)
		h.urgency.set(false)
		_, took = next(t, h)
		require.Greater(t, took, 20*time.Minute)
	})
}

// After a refused credential no dial is fast, also with a held lock, and also when the next
// connection fails, until a credential is accepted.
func TestRefusedCredentialsAreNotUrgent(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		h := newTestHosts(t, "10.0.0.1", never, WithReconnectBackoff(time.Minute, time.Minute))
		urgentFor(h.urgency, time.Hour)
		next(t, h)
		h.Connected()
		h.answered.Store(true)
		h.refused.Store(true)
		for range 3 {
			_, took := next(t, h)
			require.GreaterOrEqual(t, took, 30*time.Second)
		}
		h.Connected()
		next(t, h) // one connection of no use begins a round at once
		_, took := next(t, h)
		require.GreaterOrEqual(t, took, 30*time.Second, "nothing was answered on the newest connection")
		h.Connected()
		h.answered.Store(true)
		_, took = next(t, h)
		require.Zero(t, took)
		_, took = next(t, h)
		require.LessOrEqual(t, took, 150*time.Millisecond)
	})
}

func TestUrgentHostsFallBackOnWhatANameMeant(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		h := newTestHosts(t, "zk.example", never)
		down := false
		h.resolve = func(ctx context.Context, _ string) ([]string, error) {
			if down {
				<-ctx.Done()
				return nil, ctx.Err()
			}
			return []string{"10.0.0.1"}, nil
		}
		next(t, h)
		down = true
		urgentFor(h.urgency, 4*time.Second)
		server, took := next(t, h)
		require.Equal(t, "10.0.0.1:2181", server)
		require.LessOrEqual(t, took, 300*time.Millisecond)
	})
}

// network is servers by address, some of which do not answer: packets to them are dropped, or they accept and are mute.
type network struct {
	server  *fakeServer
	mu      sync.Mutex
	dropped map[string]bool
	mute    map[string]bool
	refused map[string]bool
	tried   map[string]int
	open    int
}

func (n *network) dial(ctx context.Context, kind, address string) (net.Conn, error) {
	n.mu.Lock()
	dropped, mute, refused := n.dropped[address], n.mute[address], n.refused[address]
	n.tried[address]++
	n.open++
	n.mu.Unlock()
	defer func() {
		n.mu.Lock()
		defer n.mu.Unlock()
		n.open--
	}()
	switch {
	case refused:
		return nil, errors.New("refused for a test")
	case dropped:
		<-ctx.Done()
		return nil, ctx.Err()
	case mute:
		client, server := net.Pipe()
		n.server.running.Go(func() {
			_, _ = io.Copy(io.Discard, server)
			_ = server.Close()
		})
		return client, nil
	}
	return n.server.dial(ctx, kind, address)
}

func (n *network) set(change func()) {
	n.mu.Lock()
	defer n.mu.Unlock()
	change()
}

func (n *network) attempts(address string) int {
	n.mu.Lock()
	defer n.mu.Unlock()
	return n.tried[address]
}

// three are the addresses of an ensemble.
var three = []string{"10.0.0.1:2181", "10.0.0.2:2181", "10.0.0.3:2181"}

// urgentConn gives a connection to a network of three servers with something held, whose lease has left that long when the
// connection is lost; and what is to be done when the bubble ends.
func urgentConn(t *testing.T, left time.Duration) (*network, *Conn, <-chan Event) {
	t.Helper()
	server := newFakeServer(t)
	n := &network{server: server, dropped: map[string]bool{}, mute: map[string]bool{}, refused: map[string]bool{}, tried: map[string]int{}}
	c, events := dialFake(t, server, three[0]+","+three[1]+","+three[2], WithDialer(n.dial), WithReconnectBackoff(time.Minute, time.Minute))
	expect(t, events, Connected)
	require.NoError(t, c.Sync("/a"))
	urgentFor(c.hosts.urgency, left)
	return n, c, events
}

// Of three servers, some drop packets or accept and say nothing. Wherever the round begins, the client is connected to
// one that works while the lease has some left.
func TestServersThatDoNotAnswerDoNotUseUpTheLease(t *testing.T) {
	const left = 9 * time.Second // 0.23 of the session timeout, which is 40 s
	for _, bad := range []int{1, 2} {
		for _, how := range []string{"dropped", "mute"} {
			t.Run(fmt.Sprintf("%d %s", bad, how), func(t *testing.T) {
				for range 10 {
					synctest.Test(t, func(t *testing.T) {
						n, c, events := urgentConn(t, left)
						n.set(func() {
							for _, address := range three[:bad] {
								n.dropped[address], n.mute[address] = how == "dropped", how == "mute"
							}
						})
						cut := time.Now()
						n.server.cut()
						expect(t, events, Disconnected)
						expect(t, events, Connected)
						took := time.Since(cut)
						if how == "dropped" {
							require.LessOrEqual(t, took, time.Duration(bad)*longestOverlap)
						}
						require.Less(t, took, left)
						c.Close()
						synctest.Wait()
						n.set(func() { require.Zero(t, n.open, "attempts that lost have ended") })
					})
				}
			})
		}
	}
}

// A short timeout gives three servers of which two are mute less than a second together.
func TestUrgentHandshakesLeaveTimeForAnotherServer(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		h := newUrgency(func() time.Duration { return 4 * time.Second })
		require.Equal(t, time.Second, h.handshake(time.Second, 3), "not urgent")
		urgentFor(h, 900*time.Millisecond)
		require.Equal(t, 450*time.Millisecond, h.handshake(time.Second, 3))
		require.Equal(t, time.Second, h.handshake(time.Second, 1), "there is no other")
		time.Sleep(600 * time.Millisecond)
		require.Equal(t, shortestHandshake, h.handshake(time.Second, 3))
	})
}

// Packets are dropped and then are not: what is sent again by the kernel after a second is not waited for.
func TestDroppedPacketsAreSentAgainSoon(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		n, _, events := urgentConn(t, 16*time.Second)
		n.set(func() {
			for _, address := range three {
				n.dropped[address] = true
			}
		})
		n.server.cut()
		expect(t, events, Disconnected)
		time.Sleep(7 * time.Second)
		n.set(func() {
			for _, address := range three {
				require.InDelta(t, 4, n.tried[address], 1, "one each two seconds")
			}
			clear(n.dropped)
		})
		back := time.Now()
		expect(t, events, Connected)
		require.LessOrEqual(t, time.Since(back), 2*time.Second+longestOverlap)
	})
}

// One server drops packets, and the others refuse: no attempts at the others are kept waiting, and there are no more of
// them than pauses allow.
func TestServersThatRefuseArePausedForWhereItIsUrgent(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		n, _, events := urgentConn(t, 16*time.Second)
		before := n.attempts(three[1])
		n.set(func() { n.dropped[three[0]], n.refused[three[1]], n.refused[three[2]] = true, true, true })
		n.server.cut()
		expect(t, events, Disconnected)
		time.Sleep(8 * time.Second)
		tried := n.attempts(three[1]) - before
		require.Greater(t, tried, 10, "every 0.4 s at the longest, or 0.6")
		require.Less(t, tried, 60)
		n.set(func() { delete(n.refused, three[1]) })
		back := time.Now()
		expect(t, events, Connected)
		require.LessOrEqual(t, time.Since(back), 900*time.Millisecond)
	})
}

// When the lease has ended, attempts are as rare as ever.
func TestAttemptsAreRareWhenTheLeaseHasEnded(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		n, c, events := urgentConn(t, 16*time.Second)
		n.set(func() { n.refused[three[0]], n.refused[three[1]], n.dropped[three[2]] = true, true, true })
		n.server.cut()
		expect(t, events, Disconnected)
		time.Sleep(20 * time.Second)
		before := n.attempts(three[0])
		time.Sleep(10 * time.Minute)
		require.LessOrEqual(t, n.attempts(three[0])-before, 21, "each half a minute at the most")
		require.ErrorContains(t, c.LastError(), "dial 10.0.0.")
	})
}

// Close is not kept waiting by attempts that overlap, and leaves none behind.
func TestCloseEndsTheRace(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		n, c, events := urgentConn(t, 16*time.Second)
		n.set(func() {
			for _, address := range three {
				n.dropped[address] = true
			}
		})
		n.server.cut()
		expect(t, events, Disconnected)
		time.Sleep(5 * time.Second)
		start := time.Now()
		c.Close()
		require.LessOrEqual(t, time.Since(start), 2*time.Second)
		n.set(func() { require.Zero(t, n.open) })
	})
}
