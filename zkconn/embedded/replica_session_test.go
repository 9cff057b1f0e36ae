package embedded_test

import (
	"math"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"github.com/turnstile-locks/turnstile/zkconn/embedded"
)

// threeReplicas is the ensemble that the tests of replicas use.
var threeReplicas = []embedded.Option{embedded.WithReplicas(3)}

// leader is the number of the replica that leads.
func leader(t testing.TB, s *embedded.Server) int {
	t.Helper()
	for i, r := range s.Replicas() {
		if r == s.Leader() {
			return i
		}
	}
	require.FailNow(t, "nobody leads")
	return 0
}

// followers are the numbers of the others.
func followers(s *embedded.Server) (all []int) {
	for i, r := range s.Replicas() {
		if r != s.Leader() {
			all = append(all, i)
		}
	}
	return all
}

// When a writer has its reply, the write is on all replicas, with the same Stat: replicas that do
// not lag have the same data.
func TestReplicasHaveTheSameData(t *testing.T) {
	s, _ := frozen(t, threeReplicas...)
	var all []*rawClient
	for i := range s.Replicas() {
		all = append(all, openRaw(t, s, i, time.Minute))
	}
	for i, writer := range all {
		path := writer.create("/n-", ephemeral|sequential)
		want := writer.stat(path)
		require.Equal(t, writer.session, want.owner)
		for _, reader := range all {
			require.Equal(t, want, reader.stat(path))
			require.Len(t, reader.children("/"), i+2, "its own node aside there is /zookeeper")
		}
	}
	require.Equal(t, []string{s.Addr(), s.Replica(1).Addr(), s.Replica(2).Addr()}, s.Addrs())
	require.Equal(t, s.Addrs()[0]+","+s.Addrs()[1]+","+s.Addrs()[2], s.Connect())
}

// A client that goes over to another replica takes its session with it. The old connection to a follower
// does not know: reads are answered there, and only a write, which the leader refuses, closes it.
func TestSessionMovesFromFollower(t *testing.T) {
	s, _ := frozen(t, threeReplicas...)
	old := openRaw(t, s, followers(s)[0], time.Minute)
	old.create("/e", ephemeral)
	fresh := dialRaw(t, s, followers(s)[1])
	require.True(t, fresh.resume(old))
	require.Equal(t, old.session, fresh.session)
	require.True(t, old.exists("/e"))
	old.ping()
	old.send(embedded.OpCreate, createOf("/late", plain))
	old.closed()
	require.False(t, fresh.exists("/late"))
	fresh.create("/f", ephemeral)
	require.Len(t, s.Sessions(), 1)
}

// The leader itself knows that the session has moved, and refuses the old connection's reads as well.
func TestSessionMovesFromLeader(t *testing.T) {
	s, _ := frozen(t, threeReplicas...)
	for _, op := range []embedded.Op{embedded.OpPing, embedded.OpExists, embedded.OpDelete} {
		old := openRaw(t, s, leader(t, s), time.Minute)
		fresh := dialRaw(t, s, followers(s)[0])
		require.True(t, fresh.resume(old))
		old.send(op, "/zookeeper", int32(0)) // as a delete asks; the others read less
		old.closed()
		fresh.ping()
	}
}

// A session that comes back to a replica has its old connection there closed at once.
func TestSessionComesBackToItsReplica(t *testing.T) {
	s, _ := frozen(t, threeReplicas...)
	for i := range s.Replicas() {
		old := openRaw(t, s, i, time.Minute)
		fresh := dialRaw(t, s, i)
		require.True(t, fresh.resume(old))
		old.closed()
		fresh.create("/n-", sequential)
	}
	require.Len(t, s.Sessions(), 3)
}

// A session's own way through the replicas and back leaves one connection that may write: the last.
func TestSessionMovesAround(t *testing.T) {
	s, _ := frozen(t, threeReplicas...)
	c := openRaw(t, s, 0, time.Minute)
	var before []*rawClient
	for i := range 9 {
		next := dialRaw(t, s, (i+1)%3)
		require.True(t, next.resume(c))
		next.create("/n-", ephemeral|sequential)
		before, c = append(before, c), next
	}
	for _, old := range before {
		_ = old.tryWrite(old.request(embedded.OpCreate, createOf("/late-", sequential)))
		old.closed()
	}
	require.Len(t, c.children("/"), 10)
	require.NoError(t, s.Expire(c.session))
	c.closed()
	require.Len(t, openRaw(t, s, 0, time.Minute).children("/"), 1)
}

// A client that has seen more than a replica has is turned away without an answer: time must not go back
// for it. Another replica may help it.
func TestClientThatHasSeenMoreIsRefused(t *testing.T) {
	s, _ := frozen(t, threeReplicas...)
	behind, ahead := followers(s)[0], followers(s)[1]
	require.NoError(t, s.Replica(behind).Lag())
	writer := openRaw(t, s, ahead, time.Minute)
	seen := writer.call(embedded.OpCreate, createOf("/a", plain)).must().zxid

	refused := dialRaw(t, s, behind)
	refused.greet(seen, time.Minute, writer.session, writer.password)
	refused.closed()
	welcome := dialRaw(t, s, leader(t, s))
	welcome.greet(seen, time.Minute, writer.session, writer.password)
	require.True(t, welcome.welcomed())
	s.Replica(behind).CatchUp()
	later := dialRaw(t, s, behind)
	later.greet(seen, time.Minute, writer.session, writer.password)
	require.True(t, later.welcomed())

	nobody := dialRaw(t, s, ahead)
	nobody.greet(math.MaxInt64, time.Minute, 0, make([]byte, 16))
	nobody.closed()
}
