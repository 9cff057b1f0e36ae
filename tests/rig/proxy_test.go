package rig

import (
	"errors"
	"strings"
	"testing"

	"github.com/go-zookeeper/zk"
)

// bench is a client behind a proxy and another one that sees what the server has.
type bench struct {
	proxy  *Proxy
	client *client
	direct *client
	path   string // a node of the test's own
}

func newBench(t *testing.T) *bench {
	t.Helper()
	server := shared(t)
	b := &bench{proxy: NewProxy(t, server.Addr()), direct: connect(t, server.Addr())}
	b.client = connect(t, b.proxy.Addr())
	b.path = freshPath(t, b.direct)
	return b
}

// reconnected waits for the session that the client has after it lost its
// connection, and checks that it is the one from before.
func (b *bench) reconnected(t *testing.T, before int64) {
	t.Helper()
	eventually(t, "a session again", func() bool { return b.client.saw(zk.StateHasSession) })
	if after := b.client.SessionID(); after != before {
		t.Errorf("session %x after %x", after, before)
	}
}

func lostConnection(err error) bool {
	return errors.Is(err, zk.ErrConnectionClosed) || err != nil && strings.Contains(err.Error(), "connection")
}

func TestDropReplyAppliesTheRequest(t *testing.T) {
	b := newBench(t)
	session := b.client.SessionID()
	b.client.forgetStates()
	fault := b.proxy.Expect(Rule{Op: OpCreate, Action: DropReply})
	_, err := b.client.Create(b.path+"/a", nil, 0, everyone)
	if !lostConnection(err) {
		t.Errorf("the client was told %v", err)
	}
	await(t, "the fault", fault.Fired())
	if !exists(t, b.direct, b.path+"/a") {
		t.Error("the request was not applied")
	}
	b.reconnected(t, session)
	create(t, b.client, b.path+"/b", 0) // the fault is used up
}

func TestCutBeforeDoesNotApplyTheRequest(t *testing.T) {
	b := newBench(t)
	session := b.client.SessionID()
	b.client.forgetStates()
	fault := b.proxy.Expect(Rule{Op: OpCreate, Action: CutBefore})
	_, err := b.client.Create(b.path+"/a", nil, 0, everyone)
	if !lostConnection(err) {
		t.Errorf("the client was told %v", err)
	}
	await(t, "the fault", fault.Fired())
	b.reconnected(t, session)
	if exists(t, b.client, b.path+"/a") {
		t.Error("the request was applied")
	}
}

func TestDelayHoldsReplyAndAllAfterIt(t *testing.T) {
	b := newBench(t)
	fault := b.proxy.Expect(Rule{Op: OpCreate, Action: Delay})
	created := make(chan struct{})
	read := make(chan struct{})
	go func() {
		defer close(created)
		if _, err := b.client.Create(b.path+"/a", nil, 0, everyone); err != nil {
			t.Error(err)
		}
	}()
	await(t, "the fault", fault.Fired())
	if !exists(t, b.direct, b.path+"/a") {
		t.Error("the request was not applied")
	}
	go func() {
		defer close(read)
		if _, _, err := b.client.Get(b.path); err != nil {
			t.Error(err)
		}
	}()
	eventually(t, "the read is on its way", func() bool { return b.proxy.Requests(OpGetData) == 1 })
	if isClosed(created) || isClosed(read) {
		t.Error("a reply passed")
	}
	fault.Release()
	fault.Release()
	await(t, "the create's reply", created)
	await(t, "the read's reply", read)
}

func TestHoldLetsRequestsPass(t *testing.T) {
	b := newBench(t)
	b.proxy.Hold(true)
	b.proxy.Hold(true)
	created := make(chan struct{})
	go func() {
		defer close(created)
		if _, err := b.client.Create(b.path+"/a", nil, 0, everyone); err != nil {
			t.Error(err)
		}
	}()
	eventually(t, "the node is there", func() bool { return exists(t, b.direct, b.path+"/a") })
	if isClosed(created) {
		t.Error("a reply passed")
	}
	b.proxy.Hold(false)
	b.proxy.Hold(false)
	await(t, "the reply", created)
}

func TestCutWhileHeld(t *testing.T) {
	b := newBench(t)
	session := b.client.SessionID()
	b.client.forgetStates()
	b.proxy.Hold(true)
	failed := make(chan error, 1)
	go func() {
		_, err := b.client.Create(b.path+"/a", nil, 0, everyone)
		failed <- err
	}()
	eventually(t, "the node is there", func() bool { return exists(t, b.direct, b.path+"/a") })
	b.proxy.Cut()
	if err := <-failed; !lostConnection(err) {
		t.Errorf("the client was told %v", err)
	}
	b.proxy.Hold(false)
	b.reconnected(t, session)
}

func TestRefuseKeepsTheNetworkDown(t *testing.T) {
	b := newBench(t)
	session := b.client.SessionID()
	b.client.forgetStates()
	b.proxy.Refuse(true)
	create(t, b.client, b.path+"/a", 0) // what is open stays open
	b.proxy.Cut()
	eventually(t, "a second attempt to connect", func() bool {
		b.client.mu.Lock()
		defer b.client.mu.Unlock()
		attempts := 0
		for _, state := range b.client.states {
			if state == zk.StateConnecting {
				attempts++
			}
		}
		return attempts >= 2
	})
	if b.client.saw(zk.StateHasSession) {
		t.Error("connected through a network that is down")
	}
	b.proxy.Refuse(false)
	b.reconnected(t, session)
}

func TestCloseSessionPasses(t *testing.T) {
	b := newBench(t)
	create(t, b.client, b.path+"/mortal", zk.FlagEphemeral)
	b.client.Close()
	eventually(t, "the node is gone", func() bool { return !exists(t, b.direct, b.path+"/mortal") })
	if n := b.proxy.Requests(OpCloseSession); n != 1 {
		t.Errorf("%d requests to close the session", n)
	}
	b.proxy.Close()
	b.proxy.Close()
}

func TestUnreachableTarget(t *testing.T) {
	b := newBench(t)
	session := b.client.SessionID()
	b.client.forgetStates()
	port, err := takePort()
	if err != nil {
		t.Fatal(err)
	}
	defer releasePorts(port)
	b.proxy.mu.Lock()
	real := b.proxy.target
	b.proxy.mu.Unlock()
	b.proxy.SetTarget(loopback(port))
	b.proxy.Cut()
	eventually(t, "connected to the proxy", func() bool { return b.client.saw(zk.StateConnected) })
	b.proxy.SetTarget(real)
	b.reconnected(t, session)
}
