package rig

import (
	"bytes"
	"testing"
	"time"
)

// lab is an ensemble of three that can be partitioned, a follower of it, and
// clients at the two members that matter. Reads go by a session of their own,
// since a server answers no read of a session before its writes.
type lab struct {
	*Partitionable
	leader, follower     *Server
	atLeader, atFollower *client
	reader               *client // at the follower
}

func newLab(t *testing.T, opts ...Option) *lab {
	t.Helper()
	p := StartPartitionable(t, 3, opts...)
	leader, err := p.Leader(testContext(t))
	if err != nil {
		t.Fatal(err)
	}
	var followers []*Server
	eventually(t, "two follow", func() bool {
		followers, err = p.Waiting(testContext(t))
		return err == nil && len(followers) == 2
	})
	l := &lab{Partitionable: p, leader: leader, follower: followers[0]}
	l.atLeader, l.atFollower = connect(t, leader.Addr()), connect(t, l.follower.Addr())
	l.reader = connect(t, l.follower.Addr())
	return l
}

// begin creates a node and closes what it returns when the answer has come.
func (l *lab) begin(t *testing.T, c *client, path string) <-chan struct{} {
	t.Helper()
	answered := make(chan struct{})
	go func() {
		defer close(answered)
		if _, err := c.Create(path, nil, 0, everyone); err != nil {
			t.Errorf("create %s: %v", path, err)
		}
	}()
	return answered
}

// The stream from the leader to one follower stalls, and nothing else: the follower's requests are
// committed, its client hears of it after Heal, and the rest works.
func TestStallIsOneWay(t *testing.T) {
	t.Parallel()
	l := newLab(t, WithConfig("syncLimit", "100"))
	down := l.Link(l.leader, l.follower)
	down.Stall()
	answered := l.begin(t, l.atFollower, "/down")
	eventually(t, "the request of the follower's client is committed", func() bool {
		return exists(t, l.atLeader, "/down")
	})
	create(t, l.atLeader, "/else", 0)
	if isClosed(answered) || exists(t, l.reader, "/else") {
		t.Error("the follower has heard of a commit")
	}
	down.Heal()
	await(t, "the answer", answered)
	if !exists(t, l.reader, "/down") || !exists(t, l.reader, "/else") {
		t.Error("what was held back has not arrived in order")
	}

	up := l.Link(l.follower, l.leader)
	up.Stall()
	answered = l.begin(t, l.atFollower, "/up")
	create(t, l.atLeader, "/seen", 0)
	eventually(t, "the follower hears of commits", func() bool { return exists(t, l.reader, "/seen") })
	if isClosed(answered) || exists(t, l.atLeader, "/up") {
		t.Error("a request of the follower's client has passed")
	}
	up.Heal()
	await(t, "the answer", answered)
}

// An observer of what a link takes hears of a request that stalls, and an observer of what passes does not.
func TestObserversOfALinkThatStalls(t *testing.T) {
	t.Parallel()
	l := newLab(t, WithConfig("syncLimit", "100"))
	up := l.Link(l.follower, l.leader)
	isIt := func(p Packet) bool {
		return p.Type == PacketRequest && p.Session() == l.atFollower.SessionID() && p.Op() == OpCreate &&
			bytes.Contains(p.Data, []byte("/held"))
	}
	taken, passed := make(chan struct{}), make(chan struct{})
	up.ObserveTaken(func(p Packet) {
		if isIt(p) {
			close(taken)
		}
	})
	up.Observe(func(p Packet) {
		if isIt(p) {
			close(passed)
		}
	})
	up.Stall()
	answered := l.begin(t, l.atFollower, "/held")
	await(t, "the request in the link", taken)
	if isClosed(passed) {
		t.Error("it has passed")
	}
	up.Heal()
	await(t, "the request behind the link", passed)
	await(t, "the answer", answered)
}

// Each direction takes its time by itself, and a cut link comes back.
func TestDelayAndCutOfALink(t *testing.T) {
	t.Parallel()
	l := newLab(t, WithConfig("syncLimit", "100")) // nobody is given up for being slow
	const delay = 150 * time.Millisecond
	for name, slow := range map[string]*OneWay{
		"/up":   l.Link(l.follower, l.leader),
		"/down": l.Link(l.leader, l.follower),
	} {
		slow.Delay(delay)
		begin := time.Now()
		create(t, l.atFollower, name, 0)
		if took := time.Since(begin); took < delay {
			t.Errorf("%s: a create took %v, with a delay of %v", name, took, delay)
		}
		slow.Heal()
	}
	link := l.Link(l.leader, l.follower)
	link.Cut()
	eventually(t, "the follower does not serve", func() bool {
		_, err := l.follower.Address().Mode(testContext(t))
		return err != nil
	})
	create(t, l.atLeader, "/cut", 0)
	link.Heal()
	eventually(t, "the follower follows", func() bool {
		mode, err := l.follower.Address().Mode(testContext(t))
		return err == nil && mode == "follower"
	})
	if !exists(t, connect(t, l.follower.Addr()), "/cut") {
		t.Error("the follower has not caught up")
	}
}

func TestLinkOfOneMemberPanics(t *testing.T) {
	member := &Server{}
	p := &Partitionable{Ensemble: &Ensemble{members: []*Server{member}}}
	defer func() {
		if recover() == nil {
			t.Error("a member is linked with itself")
		}
	}()
	p.Link(member, member)
}

// Members differ in what they grant.
func TestMembersDiffer(t *testing.T) {
	t.Parallel()
	p := StartPartitionable(t, 3, WithMember(0, WithMaxSessionTimeout(4*time.Second)),
		WithMember(1, WithMinSessionTimeout(20*time.Second)))
	for number, want := range []time.Duration{4 * time.Second, 20 * time.Second, 10 * time.Second} {
		proxy := NewProxy(t, p.Members()[number].Addr())
		connect(t, proxy.Addr()) // asks for ten seconds
		if granted := proxy.Timeout(); granted != want {
			t.Errorf("member %d grants %v, want %v", number, granted, want)
		}
	}
}
