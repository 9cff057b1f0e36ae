package conformance

import (
	"context"
	"errors"
	"fmt"
	"os"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/cockroachdb/datadriven"
	"github.com/stretchr/testify/require"

	"github.com/turnstile-locks/turnstile/tests/rig"
	"github.com/turnstile-locks/turnstile/zkconn/embedded"
)

// A session that was ended elsewhere, while its client's connection stays. A follower's client is answered; the leader's,
// and that of a server alone, hears nothing any more.

// ended is such a session, with its connection.
type ended struct {
	server   string
	id       int64
	password text
	wire     *wire
}

// endedRoot is the node below which these tests work.
const endedRoot = "/ended"

// prepareEnded makes the nodes that the requests of these tests are about.
func prepareEnded(t *testing.T, addr string) *caretaker {
	t.Helper()
	c, err := newCaretaker(addr, endedRoot)
	require.NoError(t, err)
	t.Cleanup(c.leave)
	_, err = c.ask(op("create", "~"), op("create", "~/a"), op("create", "~/b"))
	require.NoError(t, err)
	return c
}

// beginMarked opens a session that has a node.
func beginMarked(t *testing.T, addr string) ended {
	t.Helper()
	w, welcome, err := greet(addr, newcomer())
	require.NoError(t, err)
	w.write(requestOf(t, 1, op("create", "/ended-mark").with("flags", 1)))
	body, err := w.read()
	require.NoError(t, err)
	require.Zero(t, (&decoder{bytes: body}).header().err)
	return ended{addr, welcome.id, welcome.password, w}
}

func requestOf(t *testing.T, xid int32, o operation) []byte {
	t.Helper()
	body, err := (scope{root: endedRoot}).request(o)
	require.NoError(t, err)
	return request(xid, layouts[o.name].code, body)
}

// resume takes the session to another connection. It reports false when the server says that it is over, or hangs up.
func (e ended) resume() (*wire, bool) {
	h := newcomer()
	h.id, h.password = e.id, e.password
	w, answer, err := greet(e.server, h)
	return w, err == nil && answer.id != 0
}

// endReal has a real server end a session and keep its connection. One connection closes the session, behind some work,
// while another takes it over: the server must have read the close, and the leader not have come to it. That is a race,
// so it is tried until it succeeds.
func endReal(t *testing.T, c *caretaker, addr string) ended {
	t.Helper()
	// It takes long to prepare, and not to read.
	work := operation{name: "multi", parts: slices.Repeat([]operation{op("check", "~")}, 10_000)}
	for attempt, deadline := 0, time.Now().Add(2*time.Minute); time.Now().Before(deadline); attempt++ {
		e := beginMarked(t, addr)
		e.wire.write(slices.Concat(requestOf(t, 2, work), requestOf(t, 3, work), requestOf(t, 4, operation{name: "close"})))
		time.Sleep(time.Duration(attempt%20) * 2 * time.Millisecond) // any may be the right moment
		taken, ok := e.resume()
		e.wire.close()
		if !ok {
			continue // the close came first
		}
		// Requests that the server had read before are carried out before this sync.
		answers, err := c.ask(op("sync", "~"), op("exists", "/ended-mark"))
		require.NoError(t, err)
		if e.wire = taken; answers[1].header.err != 0 && open(taken) {
			t.Logf("attempt %d", attempt)
			return e
		}
		taken.close()
		end(addr, e.id, e.password)
	}
	require.FailNow(t, "no session was ended with its connection open")
	return ended{}
}

// open reports whether the server has not closed a connection.
func open(w *wire) bool {
	_ = w.conn.SetReadDeadline(time.Now().Add(100 * time.Millisecond))
	_, err := w.reader.Peek(1)
	return err == nil || errors.Is(err, os.ErrDeadlineExceeded)
}

// endEmbedded does the same to an embedded server.
func endEmbedded(s *embedded.Server) func(*testing.T, *caretaker, string) ended {
	return func(t *testing.T, _ *caretaker, addr string) ended {
		t.Helper()
		e := beginMarked(t, addr)
		require.NoError(t, s.EndElsewhere(e.id))
		return e
	}
}

// endedRequests are the requests of such a session's client, one after the other.
const endedRequests = `
	s0 ping
	s0 exists path=~
	s0 exists path=/ended-mark
	s0 getData path=~/a
	s0 getChildren path=~
	s0 getEphemerals path=/
	s0 sync path=~
	s0 whoAmI
	s0 multiRead { getData path=~/a; getChildren path=~/missing }
	s0 create path=~/new
	s0 create path=~/new flags=1
	s0 create path=~/new flags=9
	s0 create path=relative
	s0 create path=null
	s0 create path=~/new acl=[]
	s0 create2 path=~/new flags=2
	s0 createContainer path=~/new flags=4
	s0 createTTL path=~/new flags=5
	s0 createTTL path=~/new flags=5 ttl=0
	s0 delete path=~/a
	s0 delete path=~/missing
	s0 delete path=null
	s0 setData path=~/a
	s0 setData path=relative
	s0 setACL path=~/a
	s0 setACL path=~/a acl=[]
	s0 reconfig
	s0 multi { check path=~/a }
	s0 multi { create path=~/new; delete path=~/a; setData path=~/a }
	s0 multi { create path=~/new flags=9 }
	s0 multi { createTTL path=~/new flags=9; check path=~/a }
	s0 multi { check path=null }
	s0 multi { }
	s0 multi cut=1
	s0 exists path=~/new
	s0 deleteContainer path=~/b
	s0 exists path=~/b
	s0 auth
	s0 ping
`

// answersToEnded carries the requests out, and then closes the session once more where closes says so; otherwise it asks
// for it on a new connection.
func answersToEnded(t *testing.T, e ended, closes bool) (heard []string) {
	t.Helper()
	operations, err := parseOperations(endedRequests)
	require.NoError(t, err)
	m := mask{scope: scope{root: endedRoot}, sessions: map[int64]int{e.id: 0}, started: time.Now()}
	xid := int32(2000)
	for _, o := range operations {
		xid++
		number := xid
		if o.name == "ping" {
			number = pingXid
		}
		e.wire.write(requestOf(t, number, o))
		body, err := e.wire.read()
		if err != nil {
			return append(heard, fmt.Sprint(o.bare(), ": ", ending(err)))
		}
		d := &decoder{bytes: body}
		h := d.header()
		if m.base == 0 {
			m.base = h.zxid // all that is before is old
		}
		answered := fmt.Sprint(h.xid == number, " ", m.zxid(h.zxid), " ", h.err, " ", m.reply(o, h.err, d))
		heard = append(heard, o.bare()+": "+answered)
	}
	return append(heard, endOfEnded(t, e, closes)...)
}

// endOfEnded says how the connection ends.
func endOfEnded(t *testing.T, e ended, closes bool) (heard []string) {
	t.Helper()
	if closes {
		e.wire.write(requestOf(t, 1, operation{name: "close"}))
		body, err := e.wire.read()
		require.NoError(t, err)
		heard = append(heard, fmt.Sprint("close: ", (&decoder{bytes: body}).header().err))
	} else if again, ok := e.resume(); ok {
		again.close()
		heard = append(heard, "the session is back")
	}
	_, err := e.wire.read()
	return append(heard, "and then: "+ending(err))
}

// TestEndedElsewhere is about what a follower answers.
func TestEndedElsewhere(t *testing.T) {
	t.Parallel()
	// endable is a server with a way to end its sessions.
	type endable struct {
		server
		end func(*testing.T, *caretaker, string) ended
	}
	both{
		real: func(t testing.TB) server {
			ensemble := rig.StartEnsemble(t, 3, rig.WithTickTime(undisturbed.tick), rig.WithMinSessionTimeout(undisturbed.shortest))
			ctx, cancel := context.WithTimeout(context.Background(), patience)
			defer cancel()
			followers, err := ensemble.Waiting(ctx)
			require.NoError(t, err)
			require.NotEmpty(t, followers)
			return endable{followers[0], endReal}
		},
		embedded: func(t testing.TB) server {
			ensemble := embedded.Run(t, embedded.WithReplicas(3), embedded.WithTick(undisturbed.tick),
				embedded.WithSessionTimeouts(undisturbed.shortest, undisturbed.longest))
			follower := ensemble.Replica(0)
			if follower == ensemble.Leader() {
				follower = ensemble.Replica(1)
			}
			return endable{follower, endEmbedded(ensemble)}
		},
	}.each(t, func(t *testing.T, s server) {
		c := prepareEnded(t, s.Addr())
		recorded(t, "ended", func(t *testing.T, d *datadriven.TestData) string {
			_, err := c.ask(op("create", "~/b")) // the last client has deleted it
			require.NoError(t, err)
			e := s.(endable).end(t, c, s.Addr())
			return strings.Join(answersToEnded(t, e, d.HasArg("closes")), "\n")
		})
	})
}

// TestEndedElsewhereAlone is about a server alone, which drops all that it is asked.
func TestEndedElsewhereAlone(t *testing.T) {
	t.Parallel()
	alone(undisturbed).each(t, func(t *testing.T, s server) {
		c, end := prepareEnded(t, s.Addr()), endReal
		if ours, is := s.(*embedded.Server); is {
			end = endEmbedded(ours)
		}
		e := end(t, c, s.Addr())
		asked := []operation{op("exists", "~"), op("sync", "~"), op("create", "~/new"), op("setData", "~"), {name: "close"}}
		for i, o := range asked {
			e.wire.write(append(ping, requestOf(t, int32(i)+3000, o)...))
		}
		require.Equal(t, []string{"and then: closed"}, endOfEnded(t, e, false))
	})
}
