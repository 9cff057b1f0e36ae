package embedded_test

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"github.com/turnstile-locks/turnstile/zkconn/embedded"
)

// Refuse answers in the header, for every kind of request, and nothing is carried out.
func TestRefuse(t *testing.T) {
	s, _ := frozen(t)
	c, witness := openRaw(t, s, 0, time.Minute), openRaw(t, s, 0, time.Minute)
	zxid := witness.call(embedded.OpExists, "/", false).must().zxid
	requests := map[embedded.Op]raw{
		embedded.OpCreate: createOf("/a", plain), embedded.OpCreateContainer: createOf("/a", 4),
		embedded.OpDelete: encode("/zookeeper", anyVersion), embedded.OpGetData: encode("/", false),
		embedded.OpGetChildren2: encode("/", false), embedded.OpSync: encode("/"), embedded.OpPing: nil,
		embedded.OpMulti: multiOf(partOf(embedded.OpCreate, createOf("/a", plain))), embedded.OpCloseSession: nil,
	}
	for op, body := range requests {
		for _, want := range []int32{0, -120, -125, -4} {
			fault := inject(t, s, embedded.Fault{Op: op, Session: c.session, Action: embedded.Refuse, Code: want, Count: 2})
			if want == 0 {
				want = -127
			}
			for range 2 {
				got := c.call(op, body)
				require.Equal(t, want, got.code, "%v", op)
				require.Equal(t, zxid, got.zxid, "a transaction for a request that was not carried out: %v", op)
				require.Empty(t, got.left)
			}
			require.Equal(t, 2, fault.Hits())
		}
	}
	require.Equal(t, []string{"zookeeper"}, witness.children("/"))
	c.create("/a", plain)
}

// RefusePart answers a write as the leader refuses one: in a part of a multi, and with a transaction id.
func TestRefusePart(t *testing.T) {
	const quota = int32(-125)
	s, _ := frozen(t, threeReplicas...)
	for i := range s.Replicas() {
		c := openRaw(t, s, i, time.Minute)
		zxid := c.call(embedded.OpExists, "/", false).must().zxid
		inject(t, s, embedded.Fault{Path: "/q/*", Action: embedded.RefusePart, Code: quota, Count: -1})

		single := c.call(embedded.OpCreate, createOf("/q/n", plain))
		require.Equal(t, quota, single.code)
		require.Equal(t, zxid+1, single.zxid)
		require.Empty(t, single.left)

		multi := c.call(embedded.OpMulti, multiOf(partOf(embedded.OpCheck, "/", anyVersion),
			partOf(embedded.OpCreate, createOf("/q/n", plain)), partOf(embedded.OpDelete, "/q/m", anyVersion))).must()
		require.Equal(t, refusal(0, quota, inconsistent), raw(multi.left))
		require.Equal(t, zxid+2, multi.zxid)

		read := c.call(embedded.OpGetData, "/q/n", false)
		require.Equal(t, quota, read.code)
		require.Equal(t, zxid+2, read.zxid)
		require.Equal(t, []string{"zookeeper"}, c.children("/"))
	}
}

// Without a path it is the first part of a multi that is refused.
func TestRefuseFirstPart(t *testing.T) {
	s, _ := frozen(t)
	c := openRaw(t, s, 0, time.Minute)
	inject(t, s, embedded.Fault{Op: embedded.OpMulti, Action: embedded.RefusePart})
	multi := c.call(embedded.OpMulti, multiOf(partOf(embedded.OpCreate, createOf("/a", plain)),
		partOf(embedded.OpCreate, createOf("/b", plain))))
	require.Equal(t, refusal(-127, inconsistent), raw(multi.must().left))
}

// A refusal keeps its place among the answers to earlier requests.
func TestRefusalsKeepTheirPlace(t *testing.T) {
	s, _ := frozen(t, threeReplicas...)
	follower := followers(s)[0]
	c, witness := openRaw(t, s, follower, time.Minute), openRaw(t, s, leader(t, s), time.Minute)
	inject(t, s, embedded.Fault{Session: c.session, Op: embedded.OpExists, Action: embedded.Refuse})
	s.Leader().StallTo(s.Replica(follower))
	c.write(c.request(embedded.OpCreate, createOf("/a", plain)), c.request(embedded.OpExists, "/a", false),
		c.request(embedded.OpExists, "/a", false))
	until(t, func() bool { return witness.exists("/a") })
	s.Leader().HealTo(s.Replica(follower))
	require.Equal(t, c.xid-2, c.reply().must().xid)
	refused := c.reply()
	require.Equal(t, []int32{c.xid - 1, -127}, []int32{refused.xid, refused.code})
	require.Equal(t, c.xid, c.reply().must().xid)
}

// A client whose requests are all refused keeps its session.
func TestRefusedRequestsKeepTheSession(t *testing.T) {
	s, clock := frozen(t, threeReplicas...)
	for i := range s.Replicas() {
		c := openRaw(t, s, i, time.Second)
		fault := inject(t, s, embedded.Fault{Session: c.session, Action: embedded.Refuse, Count: -1})
		for range 10 {
			clock.Advance(500 * time.Millisecond)
			require.Equal(t, int32(-127), c.call(embedded.OpGetData, "/", false).code)
		}
		require.Contains(t, s.Sessions(), c.session)
		fault.Remove()
		c.create("/n-", sequential)
	}
}

// CutBefore without an end is a server that hangs up on a request each time.
func TestHangsUpEachTime(t *testing.T) {
	s, _ := frozen(t)
	c := openRaw(t, s, 0, time.Minute)
	fault := inject(t, s, embedded.Fault{Op: embedded.OpCreateContainer, Action: embedded.CutBefore, Count: -1})
	for i := range 5 {
		c.create("/n-", sequential)
		c.send(embedded.OpCreateContainer, createOf("/c", 4))
		c.closed()
		require.Equal(t, i+1, fault.Hits())
		next := dialRaw(t, s, 0)
		require.True(t, next.resume(c))
		c = next
	}
	fault.Remove()
	c.createContainer("/c")
}
