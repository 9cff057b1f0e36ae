package embedded_test

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"github.com/turnstile-locks/turnstile/zkconn/embedded"
)

// writes are a single operation and a multi that create the same node, for faults that are to meet either.
var writes = map[string]func(c *rawClient) []byte{
	"create": func(c *rawClient) []byte { return c.request(embedded.OpCreate, createOf("/f-", sequential)) },
	"multi": func(c *rawClient) []byte {
		return c.request(embedded.OpMulti, multiOf(partOf(embedded.OpCreate, createOf("/f-", sequential)),
			partOf(embedded.OpCheck, "/", anyVersion)))
	},
}

// onWrites runs a test for each of them, with the fault in place and a second client that looks on.
func onWrites(t *testing.T, action embedded.Action, test func(t *testing.T, s *embedded.Server, write []byte, victim, witness *rawClient, fault *embedded.Injection)) {
	for name, write := range writes {
		t.Run(name, func(t *testing.T) {
			s, _ := frozen(t)
			victim, witness := openRaw(t, s, 0, time.Minute), openRaw(t, s, 0, time.Minute)
			victim.create("/e", ephemeral)
			fault := inject(t, s, embedded.Fault{Path: "/f-", Action: action})
			test(t, s, write(victim), victim, witness, fault)
			require.Equal(t, 1, fault.Hits())
		})
	}
}

// created are the nodes that the faulty write has made.
func created(c *rawClient) (names []string) {
	for _, name := range c.children("/") {
		if name != "zookeeper" && name != "e" {
			names = append(names, name)
		}
	}
	return names
}

// Pass changes nothing. It counts requests, so that a test can wait for one.
func TestPass(t *testing.T) {
	onWrites(t, embedded.Pass, func(t *testing.T, s *embedded.Server, write []byte, victim, witness *rawClient, fault *embedded.Injection) {
		victim.write(write)
		require.Equal(t, victim.xid, victim.reply().must().xid)
		require.Equal(t, []string{"f-0000000001"}, created(witness))
	})
}

// CutBefore: the request is not carried out, nor is any after it; what was asked before is answered; the
// connection is closed and the session lives.
func TestCutBefore(t *testing.T) {
	onWrites(t, embedded.CutBefore, func(t *testing.T, s *embedded.Server, write []byte, victim, witness *rawClient, fault *embedded.Injection) {
		victim.write(victim.request(embedded.OpExists, "/", false), write, victim.request(embedded.OpCreate, createOf("/after", plain)))
		require.Equal(t, victim.xid-1, victim.reply().must().xid)
		victim.closed()
		require.Empty(t, created(witness))
		require.True(t, witness.exists("/e"))
		require.True(t, dialRaw(t, s, 0).resume(victim))
	})
}

// CutAfter: the request is carried out, once, and nobody is told; the connection is closed and the session
// lives. This is the lost reply that leaves orphans behind.
func TestCutAfter(t *testing.T) {
	onWrites(t, embedded.CutAfter, func(t *testing.T, s *embedded.Server, write []byte, victim, witness *rawClient, fault *embedded.Injection) {
		victim.write(victim.request(embedded.OpExists, "/", false), write, victim.request(embedded.OpCreate, createOf("/after", plain)))
		require.Equal(t, victim.xid-1, victim.reply().must().xid)
		victim.closed()
		require.Equal(t, []string{"f-0000000001"}, created(witness))
		again := dialRaw(t, s, 0)
		require.True(t, again.resume(victim))
		require.Equal(t, "/f-0000000002", again.create("/f-", sequential), "the fault is used up")
	})
}

// DropReply: the request is carried out and its reply never comes; the connection stays, and what is asked
// later is answered.
func TestDropReply(t *testing.T) {
	onWrites(t, embedded.DropReply, func(t *testing.T, s *embedded.Server, write []byte, victim, witness *rawClient, fault *embedded.Injection) {
		victim.write(write, victim.request(embedded.OpExists, "/", false))
		require.Equal(t, victim.xid, victim.reply().must().xid)
		victim.ping()
		require.Equal(t, []string{"f-0000000001"}, created(witness))
	})
}

// The watch event that the request itself causes is no reply, and comes.
func TestDropReplyKeepsEvents(t *testing.T) {
	s, _ := frozen(t)
	c := openRaw(t, s, 0, time.Minute)
	inject(t, s, embedded.Fault{Op: embedded.OpCreate, Action: embedded.DropReply})
	c.call(embedded.OpExists, "/a", true)
	c.send(embedded.OpCreate, createOf("/a", plain))
	require.Equal(t, "created /a", c.event())
	c.ping()
}

// HoldReplies: the request is carried out at once, and seen by others; its reply and all that follows on
// the connection wait for Release, in their order. Earlier answers are not held.
func TestHoldReplies(t *testing.T) {
	onWrites(t, embedded.HoldReplies, func(t *testing.T, s *embedded.Server, write []byte, victim, witness *rawClient, fault *embedded.Injection) {
		watched := inject(t, s, embedded.Fault{Op: embedded.OpExists, Path: "/f-0000000001"})
		before := victim.request(embedded.OpExists, "/", false)
		victim.write(before, write, victim.request(embedded.OpExists, "/f-0000000001", true))
		require.Equal(t, victim.xid-1, victim.reply().must().xid, "what came before")
		require.NoError(t, watched.Wait(t.Context()))
		witness.delete("/f-0000000001")
		victim.quiet()
		fault.Release()
		require.Equal(t, victim.xid-2, victim.reply().must().xid, "the request that was made first and sent second")
		require.Equal(t, victim.xid, victim.reply().must().xid)
		require.Equal(t, "deleted /f-0000000001", victim.event())
		fault.Release()
		victim.ping()

		again := inject(t, s, embedded.Fault{Op: embedded.OpPing, Action: embedded.HoldReplies})
		victim.send(embedded.OpPing)
		victim.send(embedded.OpExists, "/f-0000000001", true)
		require.NoError(t, again.Wait(t.Context()))
		witness.create("/w", plain)
		victim.quiet() // a second Release has not made up for a hold to come
		again.Release()
		require.Equal(t, int32(-2), victim.reply().must().xid)
		require.Equal(t, noNode, victim.reply().code)
	})
}

// A session whose replies are held is alive, for its requests are heard; only its client cannot know.
func TestHeldRepliesKeepTheSession(t *testing.T) {
	s, clock := frozen(t)
	c := openRaw(t, s, 0, time.Second)
	fault := inject(t, s, embedded.Fault{Op: embedded.OpPing, Action: embedded.HoldReplies})
	later := inject(t, s, embedded.Fault{Op: embedded.OpExists, Count: -1})
	for i := range 10 {
		clock.Advance(900 * time.Millisecond)
		c.send(embedded.OpPing)
		c.send(embedded.OpExists, "/", false)
		c.awaitHits(later, i+1)
	}
	c.quiet()
	require.Len(t, s.Sessions(), 1)
	fault.Release()
	for range 20 {
		c.reply().must()
	}
}

// With a Delay the replies go out by themselves when the server's clock has moved so far.
func TestHoldRepliesWithDelay(t *testing.T) {
	s, clock := frozen(t)
	c := openRaw(t, s, 0, time.Minute)
	fault := inject(t, s, embedded.Fault{Op: embedded.OpCreate, Action: embedded.HoldReplies, Delay: 3 * time.Second})
	c.send(embedded.OpCreate, createOf("/a", plain))
	require.NoError(t, fault.Wait(t.Context()))
	fault.Release()
	clock.Advance(3*time.Second - 1)
	c.quiet()
	clock.Advance(1)
	require.Equal(t, c.xid, c.reply().must().xid)
	c.ping()
}

// Two reasons to hold a connection's replies must both go.
func TestHoldRepliesTwice(t *testing.T) {
	s, clock := frozen(t)
	c := openRaw(t, s, 0, time.Minute)
	forever := inject(t, s, embedded.Fault{Op: embedded.OpCreate, Action: embedded.HoldReplies})
	short := inject(t, s, embedded.Fault{Op: embedded.OpDelete, Action: embedded.HoldReplies, Delay: time.Second})
	c.send(embedded.OpCreate, createOf("/a", plain))
	c.send(embedded.OpDelete, "/a", anyVersion)
	require.NoError(t, short.Wait(t.Context()))
	s.Replica(0).HoldReplies()
	clock.Advance(time.Second)
	forever.Release()
	c.quiet()
	s.Replica(0).ReleaseReplies()
	c.reply().must()
	c.reply().must()
}

// ExpireBefore: the session is gone with its ephemeral nodes, the request is not carried out, and the
// connection is closed.
func TestExpireBefore(t *testing.T) {
	onWrites(t, embedded.ExpireBefore, func(t *testing.T, s *embedded.Server, write []byte, victim, witness *rawClient, fault *embedded.Injection) {
		witness.call(embedded.OpExists, "/e", true).must()
		victim.write(write)
		require.Equal(t, "deleted /e", witness.event())
		victim.closed()
		require.Empty(t, created(witness))
		require.Equal(t, []int64{witness.session}, s.Sessions())
		require.False(t, dialRaw(t, s, 0).resume(victim))
	})
}
