// Package late has requests of a session carried out late: after the session has moved to another server and has
// committed there, which tests/touches shows of ZooKeeper. It is for tests.
//
//	e := late.Start(t)                        // three real servers
//	client := e.Open(t)                       // a client at a follower
//	e.Stall()                                 // what the follower sends to the leader is held back
//	e.Sent(rig.OpDelete, func() { … })        // begins a request, and waits until the follower has it
//	e.Move()                                  // the session moves, and leaves a connect request at the follower
//	…                                         // the client goes on at the other server
//	e.Heal(session, []byte("/path"))          // the leader carries out what the follower had
package late

import (
	"bytes"
	"strconv"
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

// Timeout is the session timeout of the client: a lease outlasts all that happens here.
const Timeout = 3 * time.Minute

// crowd is how many requests of another session the leader has to prepare before the late one. They must fit into the
// buffers of the link that is stalled, or the follower stands still with them.
const crowd = 1000

// Ensemble is an ensemble of three, with a client at a follower.
type Ensemble struct {
	*rig.Partitionable
	t                       *testing.T
	leader, follower, other *rig.Server
	// Proxy is between the client and the follower, or later the other member.
	Proxy *rig.Proxy
	// Witness is at the leader.
	Witness *zk.Conn
	others  *connection
}

// Start starts the servers.
func Start(t *testing.T) *Ensemble {
	t.Helper()
	e := &Ensemble{t: t, Partitionable: rig.StartPartitionable(t, 3, rig.WithConfig("syncLimit", "1000"),
		rig.WithMaxSessionTimeout(2*Timeout),
		rig.WithConfig("globalOutstandingLimit", "100000"))} // or the follower reads only 500 of them
	var err error
	e.leader, err = e.Leader(patient.Deadline(t))
	require.NoError(t, err)
	patient.Eventually(t, func() bool {
		followers, err := e.Waiting(patient.Deadline(t))
		if err != nil || len(followers) < 2 {
			return false
		}
		e.follower, e.other = followers[0], followers[1]
		return true
	}, "two members follow")
	e.Witness = patient.Raw(t, Timeout, e.leader.Addr())
	e.Proxy = rig.NewProxy(t, e.follower.Addr())
	e.others = greet(t, e.follower.Addr())
	t.Cleanup(e.Partitionable.Heal)
	return e
}

// Open opens the client.
func (e *Ensemble) Open(opts ...locks.Option) *locks.Client {
	e.t.Helper()
	return patient.Open(e.t, e.Proxy.Addr(), append([]locks.Option{locks.WithSessionTimeout(Timeout)}, opts...)...)
}

// Stall holds back what the follower sends to the leader. A crowd of another session's requests comes first.
func (e *Ensemble) Stall() {
	e.t.Helper()
	e.Link(e.follower, e.leader).Stall()
	for range crowd {
		e.others.send(slowTransaction)
	}
	e.awaitOutstanding(crowd)
}

// awaitOutstanding waits until the follower has so many requests that the leader has not answered.
func (e *Ensemble) awaitOutstanding(n int) {
	e.t.Helper()
	patient.Eventually(e.t, func() bool { return e.outstanding() >= n }, "%d requests are at the follower", n)
}

func (e *Ensemble) outstanding() int {
	e.t.Helper()
	metrics, err := e.follower.Address().Mntr(patient.Deadline(e.t))
	require.NoError(e.t, err)
	n, err := strconv.Atoi(metrics["zk_outstanding_requests"])
	require.NoError(e.t, err)
	return n
}

// Sent begins a request that has such an operation, and returns when the follower has it.
func (e *Ensemble) Sent(op rig.OpCode, begin func()) {
	e.t.Helper()
	before, sent := e.outstanding(), e.Proxy.Operations(op)
	go begin()
	patient.Eventually(e.t, func() bool { return e.Proxy.Operations(op) > sent }, "it is sent")
	e.awaitOutstanding(before + 1)
}

// Move leaves a connect request of the client's session at the follower, unanswered, and takes the client to the other
// member.
func (e *Ensemble) Move() {
	e.t.Helper()
	id, password, known := e.Proxy.Session()
	require.True(e.t, known)
	e.Proxy.SetTarget(e.other.Addr()) // now, because the follower closes the connection that the session has with it
	asked := dial(e.t, e.follower.Addr())
	asked.send(connectRequest(id, password))
	from := asked.conn.LocalAddr().String()
	patient.Eventually(e.t, func() bool {
		text, err := e.follower.Address().FourLetter(patient.Deadline(e.t), "cons")
		return err == nil && strings.Contains(text, from+"[0](queued=0,recved=1,") // and reads nothing until the leader answers
	}, "the follower has read the connect request")
	e.Proxy.Cut()
}

// Heal lets the follower's requests through, and waits until the leader has decided on the late one, which has this text.
func (e *Ensemble) Heal(session int64, text []byte) {
	e.t.Helper()
	var mu sync.Mutex
	request, back, order := false, false, false
	link := e.Link(e.follower, e.leader)
	link.Observe(func(p rig.Packet) {
		mu.Lock()
		defer mu.Unlock()
		_, names := p.Sessions()[session]
		switch {
		case p.Type == rig.PacketRequest && p.Session() == session && bytes.Contains(p.Data, text):
			request = true
		case p.Type == rig.PacketRevalidate && names:
			back, order = true, request
		}
	})
	link.Heal()
	patient.Eventually(e.t, func() bool { mu.Lock(); defer mu.Unlock(); return request && back }, "the leader has both")
	require.True(e.t, order, "the session comes back to the follower behind its late request")
	e.others.send(slowTransaction) // behind the late request
	e.others.awaitAnswers(crowd + 1)
}
