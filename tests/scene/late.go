package scene

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"net"
	"sync"
	"testing"
	"time"

	"github.com/go-zookeeper/zk"
	"github.com/stretchr/testify/require"

	"github.com/turnstile-locks/turnstile/locks"
	"github.com/turnstile-locks/turnstile/tests/rig"
)

// LateTimeout is the session timeout of the client of Late: a lease outlasts all that happens here.
const LateTimeout = 3 * time.Minute

// Late is an ensemble of three, with a client at a follower, that carries a request out late: after the client's session
// has moved to another server and has committed transactions there (TestRequestsOutliveAMove of tests/touches).
//
//	e := scene.StartLate(t)        // three servers
//	client := e.Open()             // a client at a follower
//	e.Stall()                      // what the follower sends to the leader is held back
//	e.Sent("/path", func() { … })  // begins a write, and waits until it is held back
//	e.Move()                       // the client goes on at the other follower
//	…
//	e.Heal()                       // the leader carries the write out
//
// How that comes about: Move sends a connect request of the session to the first follower, where nobody waits for the
// answer. It is held back, too, as a packet behind the request. When the leader reads that packet it makes the follower
// the session's owner again. It looks at the owner of the request only when it prepares that, which comes later, because
// an expensive request of another session is ahead of it.
type Late struct {
	*rig.Partitionable
	t                       *testing.T
	leader, follower, other *rig.Server
	up, down                *rig.OneWay // the links from the follower to the leader, and back
	// Proxy is between the client and the follower, or later the other member.
	Proxy *rig.Proxy
	// Witness is at the leader. Behind Heal it sees what was carried out.
	Witness *zk.Conn
	// busy is the session, at the follower, of the expensive request.
	busy *zk.Conn

	mu    sync.Mutex
	taken []rig.Packet // by the link from the follower to the leader
}

// StartLate starts the servers.
func StartLate(t *testing.T) *Late {
	t.Helper()
	e := &Late{t: t, Partitionable: rig.StartPartitionable(t, 3, rig.WithConfig("syncLimit", "1000"),
		rig.WithMaxSessionTimeout(2*LateTimeout))}
	var err error
	e.leader, err = e.Leader(Deadline(t))
	require.NoError(t, err)
	Eventually(t, func() bool {
		followers, err := e.Waiting(Deadline(t))
		if err != nil || len(followers) < 2 {
			return false
		}
		e.follower, e.other = followers[0], followers[1]
		return true
	}, "two members follow")
	e.up, e.down = e.Link(e.follower, e.leader), e.Link(e.leader, e.follower)
	e.Witness = Raw(t, LateTimeout, e.leader.Addr())
	e.Proxy = rig.NewProxy(t, e.follower.Addr())
	e.busy = Raw(t, LateTimeout, e.follower.Addr())
	e.up.ObserveTaken(func(p rig.Packet) {
		e.mu.Lock()
		defer e.mu.Unlock()
		e.taken = append(e.taken, p)
	})
	Cleanup(t, e.Partitionable.Heal)
	return e
}

// Open opens the client.
func (e *Late) Open(opts ...locks.Option) *locks.Client {
	e.t.Helper()
	return Open(e.t, e.Proxy.Addr(), append([]locks.Option{locks.WithSessionTimeout(LateTimeout)}, opts...)...)
}

// Stall holds back what the follower sends to the leader. The first of it is the expensive request.
func (e *Late) Stall() {
	e.t.Helper()
	e.up.Stall()
	e.held(func() { go func() { _, _ = e.busy.Create("/busy", nil, 0, expensive) }() }, func(p rig.Packet) bool {
		return p.Type == rig.PacketRequest && p.Session() == e.busy.SessionID()
	}, "the expensive request")
}

// Sent begins a write of the client that has this text, and returns when the link holds it.
func (e *Late) Sent(text string, begin func()) {
	e.t.Helper()
	session := e.session()
	e.held(func() { go begin() }, func(p rig.Packet) bool {
		return p.Type == rig.PacketRequest && p.Session() == session && p.Op() != rig.OpSync &&
			bytes.Contains(p.Data, []byte(text))
	}, "the write")
}

// Move takes the client to the other follower, and leaves a connect request of its session at the first.
func (e *Late) Move() {
	e.t.Helper()
	session := e.session()
	e.Proxy.SetTarget(e.other.Addr())
	e.Proxy.Cut()   // first, or the follower cuts, too, and the client loses a second connection
	e.held(func() { // the connection stays open
		id, password, _ := e.Proxy.Session()
		conn, err := net.DialTimeout("tcp", e.follower.Addr(), Bound)
		require.NoError(e.t, err)
		Cleanup(e.t, func() { _ = conn.Close() })
		body := binary.BigEndian.AppendUint32(make([]byte, 4+8), uint32(LateTimeout.Milliseconds())) // version, and zxid seen
		body = binary.BigEndian.AppendUint64(body, uint64(id))
		body = binary.BigEndian.AppendUint32(body, uint32(len(password)))
		body = append(append(body, password...), 0) // not read-only
		_, err = conn.Write(append(binary.BigEndian.AppendUint32(nil, uint32(len(body))), body...))
		require.NoError(e.t, err)
	}, func(p rig.Packet) bool {
		_, names := p.Sessions()[session]
		return p.Type == rig.PacketRevalidate && names
	}, "the connect request")
}

func (e *Late) session() int64 {
	e.t.Helper()
	session, _, known := e.Proxy.Session()
	require.True(e.t, known)
	return session
}

// held does something and waits until the link holds a packet that comes of it.
func (e *Late) held(do func(), is func(rig.Packet) bool, what string) {
	e.t.Helper()
	e.mu.Lock()
	e.taken = nil
	e.mu.Unlock()
	do()
	Eventually(e.t, func() bool {
		e.mu.Lock()
		defer e.mu.Unlock()
		for _, p := range e.taken {
			if is(p) {
				return true
			}
		}
		return false
	}, "%s is held back", what)
}

// Heal lets the follower's packets through, and waits until the late request is carried out, and Witness sees it.
func (e *Late) Heal() {
	e.t.Helper()
	session, busy := e.session(), e.busy.SessionID()
	back := make(chan bool, 1)
	prepared := false // the expensive request; the leader answers a revalidation and makes proposals in one order
	e.down.Observe(func(p rig.Packet) {
		switch {
		case p.Type == rig.PacketProposal && p.Session() == busy:
			prepared = true
		case p.Type == rig.PacketRevalidate && p.Session() == session:
			select {
			case back <- !prepared:
			default:
			}
		}
	})
	e.up.Heal()
	require.True(e.t, Receive(e.t, back), "the leader came to the late request before the session was back")
	_, err := e.Witness.Set("/", nil, -1) // behind the late request, which the leader has read
	require.NoError(e.t, err)
}

// expensive is an ACL that takes a leader a second or so to prepare, because it compares each entry with all that come
// before, and that is not valid then.
var expensive = func() (acl []zk.ACL) {
	for i := range 5_000 {
		acl = append(acl, zk.ACL{Perms: zk.PermAll, Scheme: "none", ID: fmt.Sprintf("%04d", i)})
	}
	return acl
}()
