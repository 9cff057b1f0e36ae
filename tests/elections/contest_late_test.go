package elections

import (
	"encoding/binary"
	"io"
	"net"
	"strconv"
	"testing"
	"time"

	"github.com/go-zookeeper/zk"
	"github.com/stretchr/testify/require"

	"github.com/turnstile-locks/turnstile/locks"
	"github.com/turnstile-locks/turnstile/tests/patient"
	"github.com/turnstile-locks/turnstile/tests/rig"
)

// TestContestDeletedLate: a holder gives a contest back, and its server, which is slow to pass the delete on, carries it
// out after the session has moved to another server, has deleted the node there, and somebody else has made it anew. The
// new holder's node stays.
//
// ZooKeeper does so. The session has left a connect request at the old server, too. The leader answers that at once, and
// the old server has the session again, while the delete still waits behind other requests of that server.
func TestContestDeletedLate(t *testing.T) {
	t.Parallel()
	const long = 3 * time.Minute
	p := rig.StartPartitionable(t, 3, rig.WithConfig("syncLimit", "1000"), rig.WithMaxSessionTimeout(long))
	leader, err := p.Leader(patient.Deadline(t))
	require.NoError(t, err)
	followers, err := p.Waiting(patient.Deadline(t))
	require.NoError(t, err)
	require.Len(t, followers, 2)
	was, is := followers[0], followers[1]
	other := patient.Open(t, leader.Addr())
	operator := patient.Raw(t, long, leader.Addr())
	proxy := rig.NewProxy(t, was.Addr())
	moving := patient.Open(t, proxy.Addr(), locks.WithSessionTimeout(long))
	lease, err := moving.Contest("/arena/c").Lock(patient.Deadline(t))
	require.NoError(t, err)
	patient.CatchUp(t, moving)

	crowd := greet(t, was.Addr(), long)
	go func() { _, _ = io.Copy(io.Discard, crowd) }()
	passes := p.Link(was, leader)
	passes.Stall()
	for range 5000 { // what the server lets in of these comes to the leader before the delete
		_, err := crowd.Write(check)
		require.NoError(t, err)
	}
	awaitOutstanding(t, was, 500)
	deletes := proxy.Operations(rig.OpDelete)
	done := make(chan error, 1)
	go func() { done <- lease.Unlock(patient.Deadline(t)) }()
	patient.Eventually(t, func() bool { return proxy.Operations(rig.OpDelete) > deletes }, "it has sent its delete")
	time.Sleep(time.Second) // the delete is to be with the server before the connect request; nothing tells

	id, password, ok := proxy.Session()
	require.True(t, ok)
	abandoned, err := net.Dial("tcp", was.Addr())
	require.NoError(t, err)
	_, err = abandoned.Write(connectFrame(long, id, password))
	require.NoError(t, err)
	time.Sleep(time.Second) // likewise
	require.NoError(t, abandoned.Close())
	proxy.SetTarget(is.Addr())
	proxy.Cut()
	require.NoError(t, patient.Receive(t, done), "it was given back at the other server")
	next, err := other.Contest("/arena/c").Lock(patient.Deadline(t))
	require.NoError(t, err)
	require.Greater(t, next.Token(), lease.Token())

	passes.Heal()
	behind := patient.Raw(t, long, was.Addr()) // its requests come to the leader behind those
	_, err = behind.Create("/behind", nil, 0, zk.WorldACL(zk.PermAll))
	require.NoError(t, err)
	_, stat, err := operator.Get("/arena/c")
	require.NoError(t, err, "a late delete took the node of the next holder")
	require.Equal(t, next.Token().Zxid(), stat.Czxid)
	require.True(t, next.Valid())
	_, err = other.Contest("/arena/c").TryLock(patient.Deadline(t))
	require.ErrorIs(t, err, locks.ErrNotAcquired)
	require.NoError(t, next.Unlock(patient.Deadline(t)))
	patient.Eventually(t, func() bool {
		children, _, err := operator.Children("/arena")
		return err == nil && len(children) == 0
	}, "nothing is left")
	require.NoError(t, crowd.Close())
}

// check is a transaction that changes nothing.
var check = frame([]byte{0, 0, 0, 1, 0, 0, 0, 14, // its number, a multi
	0, 0, 0, 13, 0, 0xff, 0xff, 0xff, 0xff, 0, 0, 0, 1, '/', 0xff, 0xff, 0xff, 0xff, // the check of a version
	0xff, 0xff, 0xff, 0xff, 1, 0xff, 0xff, 0xff, 0xff})

func frame(body []byte) []byte {
	return append(binary.BigEndian.AppendUint32(nil, uint32(len(body))), body...)
}

// connectFrame asks for a session; a new one where the id is zero.
func connectFrame(timeout time.Duration, id int64, password []byte) []byte {
	b := binary.BigEndian.AppendUint32(make([]byte, 4+8), uint32(timeout.Milliseconds()))
	b = binary.BigEndian.AppendUint64(b, uint64(id))
	b = append(binary.BigEndian.AppendUint32(b, uint32(len(password))), password...)
	return frame(append(b, 0))
}

// greet opens a session.
func greet(t *testing.T, server string, timeout time.Duration) net.Conn {
	t.Helper()
	conn, err := net.Dial("tcp", server)
	require.NoError(t, err)
	patient.Cleanup(t, func() { _ = conn.Close() })
	_, err = conn.Write(connectFrame(timeout, 0, make([]byte, 16)))
	require.NoError(t, err)
	var length [4]byte
	_, err = io.ReadFull(conn, length[:])
	require.NoError(t, err)
	_, err = io.CopyN(io.Discard, conn, int64(binary.BigEndian.Uint32(length[:])))
	require.NoError(t, err)
	return conn
}

// awaitOutstanding waits until so many requests wait at a server.
func awaitOutstanding(t *testing.T, server *rig.Server, many int) {
	t.Helper()
	patient.Eventually(t, func() bool {
		metrics, err := server.Address().Mntr(patient.Deadline(t))
		waiting, _ := strconv.Atoi(metrics["zk_outstanding_requests"])
		return err == nil && waiting >= many
	}, "%d requests wait", many)
}
