package txn

import (
	"bytes"
	"context"
	"encoding/binary"
	"io"
	"net"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/go-zookeeper/zk"
	"github.com/stretchr/testify/require"

	"github.com/turnstile-locks/turnstile/locks"
	"github.com/turnstile-locks/turnstile/tests/patient"
	"github.com/turnstile-locks/turnstile/tests/rig"
)

// stuckTimeout is the session timeout under which a lease outlasts all that happens here.
const stuckTimeout = 3 * time.Minute

// crowd is how many requests the leader has to prepare before the one that is stuck. They must fit into the buffers of the
// link that is stalled, or the follower stands still with them.
const crowd = 1000

// stuck is an ensemble of three, with a client at a follower whose requests do not reach the leader, until heal.
type stuck struct {
	*rig.Partitionable
	t                       *testing.T
	leader, follower, other *rig.Server
	proxy                   *rig.Proxy // between the client and the follower, or later the other member
	client                  *locks.Client
	witness                 *zk.Conn // at the leader
	flood                   *rawSession
}

func newStuck(t *testing.T) *stuck {
	t.Helper()
	ensemble := rig.StartPartitionable(t, 3, rig.WithConfig("syncLimit", "1000"), rig.WithMaxSessionTimeout(2*stuckTimeout),
		rig.WithConfig("globalOutstandingLimit", "100000")) // or the follower reads only 500 of them
	s := &stuck{Partitionable: ensemble, t: t}
	var err error
	s.leader, err = s.Leader(patient.Deadline(t))
	require.NoError(t, err)
	patient.Eventually(t, func() bool {
		followers, err := s.Waiting(patient.Deadline(t))
		if err != nil || len(followers) < 2 {
			return false
		}
		s.follower, s.other = followers[0], followers[1]
		return true
	}, "two members follow")
	s.witness = patient.Raw(t, stuckTimeout, s.leader.Addr())
	_, err = s.witness.Create("/journal", nil, 0, zk.WorldACL(zk.PermAll))
	require.NoError(t, err)
	s.proxy = rig.NewProxy(t, s.follower.Addr())
	s.client = patient.Open(t, s.proxy.Addr(), locks.WithSessionTimeout(stuckTimeout))
	s.flood = newRawSession(t, s.follower.Addr(), 0, make([]byte, 16))
	t.Cleanup(s.Heal)
	return s
}

// stall keeps back what the follower sends to the leader. A crowd of another session's requests comes first.
func (s *stuck) stall() {

	s.Link(s.follower, s.leader).Stall()
	for range crowd {
		s.flood.send(slowTransaction)
	}
	s.awaitOutstanding(crowd)
}

// awaitOutstanding waits until the follower has so many requests that the leader has not answered.
func (s *stuck) awaitOutstanding(n int) {
	s.t.Helper()
	patient.Eventually(s.t, func() bool { return s.outstanding() >= n }, "%d requests are at the follower", n)
}

func (s *stuck) outstanding() int {
	s.t.Helper()
	metrics, err := s.follower.Address().Mntr(patient.Deadline(s.t))
	require.NoError(s.t, err)
	n := 0
	for _, digit := range metrics["zk_outstanding_requests"] {
		n = 10*n + int(digit-'0')
	}
	return n
}

// send begins a transaction under a lease, and returns when the follower has it.
func (s *stuck) send(ctx context.Context, lease *locks.Lease) <-chan written {
	s.t.Helper()
	before, creates := s.outstanding(), s.proxy.Operations(rig.OpCreate)
	answer := make(chan written, 1)
	go func() {
		results, err := lease.Txn(ctx, locks.CreateSequential("/journal/e-", []byte("entry")))
		answer <- written{results, err}
	}()
	patient.Eventually(s.t, func() bool { return s.proxy.Operations(rig.OpCreate) > creates }, "the transaction is sent")
	s.awaitOutstanding(before + 1)
	return answer
}

type written struct {
	results []locks.OpResult
	err     error
}

// move leaves a connect request of the client's session at the follower, unanswered, and takes the client to the other
// member.
func (s *stuck) move() {
	s.t.Helper()
	id, password, known := s.proxy.Session()
	require.True(s.t, known)
	s.proxy.SetTarget(s.other.Addr()) // now, because the follower closes the connection that the session has with it
	asked := dialRaw(s.t, s.follower.Addr())
	asked.send(connectRequest(id, password))
	from := asked.conn.LocalAddr().String()
	patient.Eventually(s.t, func() bool {
		text, err := s.follower.Address().FourLetter(patient.Deadline(s.t), "cons")
		return err == nil && strings.Contains(text, from+"[0](queued=0,recved=1,") // and reads nothing until the leader answers
	}, "the follower has read the connect request")
	s.proxy.Cut()
}

// heal lets the follower's requests through, and waits until the old one of the session has been prepared.
func (s *stuck) heal(session int64) {
	s.t.Helper()
	var mu sync.Mutex
	transaction, back, order := false, false, false
	link := s.Link(s.follower, s.leader)
	link.Observe(func(p rig.Packet) {
		mu.Lock()
		defer mu.Unlock()
		_, names := p.Sessions()[session]
		switch {
		case p.Type == rig.PacketRequest && p.Session() == session && bytes.Contains(p.Data, []byte("/journal/e-")):
			transaction = true
		case p.Type == rig.PacketRevalidate && names:
			back, order = true, transaction
		}
	})
	link.Heal()
	patient.Eventually(s.t, func() bool { mu.Lock(); defer mu.Unlock(); return transaction && back }, "the leader has both")
	require.True(s.t, order, "the session comes back to the follower behind its old request")
	s.flood.send(slowTransaction) // behind the old request
	s.flood.awaitAnswers(crowd + 1)
}

// journal lists what transactions have written.
func (s *stuck) journal() []string {
	s.t.Helper()
	_, err := s.witness.Set("/journal", nil, -1) // a transaction behind all others
	require.NoError(s.t, err)
	names, _, err := s.witness.Children("/journal")
	require.NoError(s.t, err)
	return names
}

// TestStuckTxn: a transaction is stuck at a server. Its session moves on, where the transaction is resolved and sent
// again. Then the old server gets the session back, by a connect request that the client has given up, and the leader
// carries out what that server had. The transaction is carried out once. On a real ensemble.
func TestStuckTxn(t *testing.T) {
	s := newStuck(t)
	lease := patient.Locked(t, s.client.Mutex("/lock").Lock)
	s.stall()
	answer := s.send(patient.Deadline(t), lease)
	s.move()
	told := patient.Receive(t, answer)
	require.NoError(t, told.err)
	s.heal(lease.Session())
	require.Equal(t, []string{strings.TrimPrefix(told.results[0].Path, "/journal/")}, s.journal(),
		"carried out once, as told")
	_, err := lease.Txn(patient.Deadline(t), locks.Create("/after", nil))
	require.NoError(t, err, "the lease goes on")
	require.NoError(t, lease.Unlock(patient.Deadline(t)))
}

// TestStuckTxnOfAnEarlierHold: the caller of the transaction gives up before its outcome is known, and unlocks. The
// next hold of the same client uses the same node. The transaction is not carried out under that hold.
func TestStuckTxnOfAnEarlierHold(t *testing.T) {
	s := newStuck(t)
	mutex := s.client.Mutex("/lock", locks.WithSticky(time.Hour))
	lease := patient.Locked(t, mutex.Lock)
	s.stall()
	ctx, cancel := context.WithCancel(patient.Deadline(t))
	answer := s.send(ctx, lease)
	cancel()
	require.ErrorIs(t, patient.Receive(t, answer).err, locks.ErrUnknownOutcome)
	s.move()
	_, _, err := lease.Get(patient.Deadline(t), "/journal") // behind all that is done about the transaction
	require.NoError(t, err)
	require.NoError(t, lease.Unlock(patient.Deadline(t)))
	next := patient.Locked(t, mutex.Lock)
	require.Equal(t, lease.Node(), next.Node())
	require.Empty(t, s.journal())
	s.heal(lease.Session())
	require.Empty(t, s.journal(), "nothing is written of a hold that is over")
	_, err = next.Txn(patient.Deadline(t), locks.CreateSequential("/journal/e-", nil))
	require.NoError(t, err)
	require.NoError(t, next.Unlock(patient.Deadline(t)))
}

// rawSession is a connection in ZooKeeper's own protocol, whose answers are counted.
type rawSession struct {
	t    *testing.T
	conn net.Conn

	mu      sync.Mutex
	answers int
}

func dialRaw(t *testing.T, server string) *rawSession {
	t.Helper()
	conn, err := net.DialTimeout("tcp", server, patient.Bound)
	require.NoError(t, err)
	r := &rawSession{t: t, conn: conn}
	var reading sync.WaitGroup
	t.Cleanup(func() { _ = conn.Close(); reading.Wait() })
	reading.Go(r.count)
	return r
}

// newRawSession connects for a session, 0 for a new one, and waits for the answer.
func newRawSession(t *testing.T, server string, id int64, password []byte) *rawSession {
	t.Helper()
	r := dialRaw(t, server)
	r.send(connectRequest(id, password))
	r.awaitAnswers(1)
	r.mu.Lock()
	defer r.mu.Unlock()
	r.answers = 0
	return r
}

func (r *rawSession) send(body []byte) {
	r.t.Helper()
	_, err := r.conn.Write(append(binary.BigEndian.AppendUint32(nil, uint32(len(body))), body...))
	require.NoError(r.t, err)
}

func (r *rawSession) awaitAnswers(n int) {
	r.t.Helper()
	patient.Eventually(r.t, func() bool { r.mu.Lock(); defer r.mu.Unlock(); return r.answers >= n }, "%d answers", n)
}

// count counts the answers until the connection ends.
func (r *rawSession) count() {
	for {
		var length [4]byte
		_, err := io.ReadFull(r.conn, length[:])
		if err == nil {
			_, err = io.CopyN(io.Discard, r.conn, int64(binary.BigEndian.Uint32(length[:])))
		}
		if err != nil {
			return
		}
		r.mu.Lock()
		r.answers++
		r.mu.Unlock()
	}
}

func connectRequest(id int64, password []byte) []byte {
	body := binary.BigEndian.AppendUint32(make([]byte, 4+8), uint32(stuckTimeout.Milliseconds()))
	body = binary.BigEndian.AppendUint64(body, uint64(id))
	body = binary.BigEndian.AppendUint32(body, uint32(len(password)))
	return append(append(body, password...), 0)
}

// slowTransaction is a multi of ten checks of the root: a leader reads it much faster than it prepares it.
var slowTransaction = func() []byte {
	const multi, check = 14, 13
	body := binary.BigEndian.AppendUint32(binary.BigEndian.AppendUint32(nil, 1), multi)
	for range 10 {
		body = binary.BigEndian.AppendUint32(body, check)
		body = append(body, 0, 0xff, 0xff, 0xff, 0xff) // more parts come; no error
		body = append(body, 0, 0, 0, 1, '/', 0xff, 0xff, 0xff, 0xff)
	}
	return append(body, 0xff, 0xff, 0xff, 0xff, 1, 0xff, 0xff, 0xff, 0xff)
}()
