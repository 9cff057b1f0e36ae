package singleton

import (
	"context"
	"fmt"
	"testing"
	"testing/synctest"
	"time"

	"github.com/asynkron/protoactor-go/actor"
	"github.com/stretchr/testify/require"

	"github.com/turnstile-locks/turnstile/actors"
	"github.com/turnstile-locks/turnstile/messages"
	"github.com/turnstile-locks/turnstile/tests/scene"
	"github.com/turnstile-locks/turnstile/zkconn/embedded"
)

// path is the lock path of all singletons here, and timeout the timeout of all sessions.
const (
	path    = "/singletons/one"
	timeout = 10 * time.Second
)

// world is a server and the nodes that it serves, in one bubble.
type world struct {
	t       *testing.T
	server  *embedded.Server
	system  *actor.ActorSystem
	witness *witness
	nodes   []*node
}

// play runs a story in a bubble, with so many nodes that have a session each.
func play(t *testing.T, nodes int, story func(w *world)) {
	t.Helper()
	synctest.Test(t, func(t *testing.T) {
		w := &world{t: t, server: scene.Virtual(t),
			system: scene.System(t)}
		w.witness = newWitness(w.system)
		for i := range nodes {
			w.nodes = append(w.nodes, w.newNode(string(rune('a'+i))))
		}
		story(w)
		w.end()
	})
}

// end stops all, and finds that nothing is left.
func (w *world) end() {
	w.t.Helper()
	for _, n := range w.nodes {
		n.line.Be(scene.Up)
		n.stop()
	}
	w.until("no child runs", func() bool { return w.witness.running() == "" })
	w.until("no node is left", func() bool { return w.contenders() == 0 })
	require.Empty(w.t, w.witness.faults())
}

// until waits for a condition that must come true, in virtual time.
func (w *world) until(what string, is func() bool) {
	w.t.Helper()
	for range 60_000 {
		if is() {
			return
		}
		time.Sleep(10 * time.Millisecond)
	}
	w.t.Fatalf("it does not come: %s\n%s", what, w.witness.story())
}

// active waits until a node runs the child, and gives its activation.
func (w *world) active(n *node) *actors.Activation {
	w.t.Helper()
	w.until(n.name+" is active", func() bool { return w.witness.running() == n.name })
	return w.witness.activation(n.name)
}

// contenders counts the contenders.
func (w *world) contenders() int {
	w.t.Helper()
	for _, n := range w.nodes {
		if n.session.Err() != nil {
			continue
		}
		answer, err := n.session.Ask(context.WithoutCancel(w.t.Context()), &messages.ReadQueue{Path: path})
		require.NoError(w.t, err)
		return len(answer.(*messages.Queue).Contenders)
	}
	w.t.Fatal("no session is open")
	return 0
}

// node is a session, and perhaps a singleton.
type node struct {
	w       *world
	name    string
	line    *scene.Network
	session *actors.Session
	from    actors.Provider // of the node's singleton; nil for its session
	pid     *actor.PID      // nil while none runs
	spawned int
}

func (w *world) newNode(name string) *node {
	n := &node{w: w, name: name, line: &scene.Network{Server: w.server}}
	n.connect()
	return n
}

// connect starts a session.
func (n *node) connect() { n.session = scene.SessionOver(n.w.t, n.w.system, n.line, timeout) }

// props gives the props of the node's singleton.
func (n *node) props(opts ...actors.SingletonOption) *actor.Props {
	if n.from != nil {
		return n.over(n.from, acquire, opts...)
	}
	return n.over(n.session, acquire, opts...)
}

func (n *node) over(from actors.Provider, want messages.Acquire, opts ...actors.SingletonOption) *actor.Props {
	opts = append(opts, actors.WithLockOptions(actors.WithObserver(n.w.witness.observer)))
	return actors.NewSingleton(from, want, n.w.witness.child(n.name), opts...)
}

// spawn spawns the node's singleton.
func (n *node) spawn(props *actor.Props) {
	n.w.t.Helper()
	n.spawned++
	pid, err := n.w.system.Root.SpawnNamed(props, fmt.Sprint("singleton-", n.name, "-", n.spawned))
	require.NoError(n.w.t, err)
	n.pid = pid
}

// under spawns the node's singleton under a parent, which passes on why it has failed.
func (n *node) under(props *actor.Props) (parent *actor.PID, told <-chan *messages.Failed) {
	failed, spawned := make(chan *messages.Failed, 1), make(chan *actor.PID, 1)
	parent = n.w.system.Root.Spawn(actor.PropsFromFunc(func(ctx actor.Context) {
		switch msg := ctx.Message().(type) {
		case *actor.Started:
			spawned <- ctx.Spawn(props)
		case *messages.Failed:
			failed <- msg
		}
	}))
	n.pid = <-spawned
	return parent, failed
}

// stop stops the node's singleton, and waits until it has ended.
func (n *node) stop() {
	if n.pid == nil {
		return
	}
	n.w.system.Root.Stop(n.pid)
	n.gone()
}

// gone waits until the node's singleton has ended.
func (n *node) gone() {
	n.w.t.Helper()
	n.w.until(n.name+" has ended", func() bool { return !n.lives() })
	n.pid = nil
}

func (n *node) lives() bool {
	_, lives := n.w.system.ProcessRegistry.GetLocal(n.pid.Id)
	return lives
}

func (n *node) send(message any) { n.w.system.Root.Send(n.pid, message) }

// The request of singletons here, and the one that asks them to give the lock back.
var (
	acquire           = messages.Acquire{Path: path}
	sendRevokeRequest = &messages.SendRevokeRequest{Path: path}
)
