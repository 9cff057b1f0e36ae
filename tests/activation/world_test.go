package activation

import (
	"fmt"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/asynkron/protoactor-go/actor"
	"github.com/stretchr/testify/require"

	"github.com/turnstile-locks/turnstile/actors"
	"github.com/turnstile-locks/turnstile/actors/activation"
	"github.com/turnstile-locks/turnstile/messages"
	"github.com/turnstile-locks/turnstile/tests/scene"
	"github.com/turnstile-locks/turnstile/zkconn/embedded"
)

// timeout is the timeout of all sessions.
const timeout = 10 * time.Second

// path is the lock path of the one identity that tests activate.
const path = "/accounts/seven"

// virtually runs a test in virtual time, on a server of its own.
func virtually(t *testing.T, test func(t *testing.T, server *embedded.Server)) {
	synctest.Test(t, func(t *testing.T) {
		test(t, scene.Virtual(t))
	})
}

// node is an actor system with a session of its own.
type node struct {
	name    string
	system  *actor.ActorSystem
	session *actors.Session
	line    *scene.Network
	from    actors.Provider // the session, or gateways
}

func newNode(t *testing.T, server *embedded.Server, name string) *node {
	t.Helper()
	n := &node{name: name, line: &scene.Network{Server: server}, system: scene.System(t)}
	n.session = scene.SessionOver(t, n.system, n.line, timeout)
	n.from = n.session
	return n
}

// Messages to an account.
type (
	work struct {
		n     int
		lasts time.Duration
	}
	fail struct{}
)

// account is the actor that is to be served once at a time. It writes down what it is served.
type account struct {
	journal *journal
	node    string
}

func (a *account) Receive(ctx actor.Context) {
	lease := activation.LeaseOf(ctx)
	switch msg := ctx.Message().(type) {
	case *actor.Started, *actor.Stopping, *actor.Stopped, *actor.Restarting:
		a.journal.add(entry{a.node, fmt.Sprintf("%T", msg)[len("*actor."):], lease.Token(), lease.Valid()})
	case work:
		a.journal.enter(a.node, lease)
		a.journal.add(entry{a.node, fmt.Sprint(msg.n), lease.Token(), lease.Valid()})
		time.Sleep(msg.lasts)
		a.journal.leave(lease)
		if ctx.Sender() != nil {
			ctx.Respond(msg.n)
		}
	case fail:
		panic("as it was told to")
	}
}

// spawn activates the identity on a node.
func (n *node) spawn(j *journal) *actor.PID {
	return n.system.Root.Spawn(n.props(j, messages.Acquire{Path: path}))
}

func (n *node) props(j *journal, want messages.Acquire, opts ...activation.Option) *actor.Props {
	return actor.PropsFromProducer(func() actor.Actor { return &account{j, n.name} },
		activation.Single(n.from, activation.At(want), opts...))
}

func (n *node) send(to *actor.PID, message any) { n.system.Root.Send(to, message) }

// alive reports whether an actor has not stopped.
func (n *node) alive(pid *actor.PID) bool {
	_, there := n.system.ProcessRegistry.GetLocal(pid.Id)
	return there
}

// entry is a message that was served.
type entry struct {
	node, message string
	token         messages.Token
	valid         bool
}

// journal is the witness: what accounts were served, and whether two of them were served at a time, with
// valid leases.
type journal struct {
	mu      sync.Mutex
	entries []entry
	serving map[*activation.Lease]string
	newest  messages.Token
	wrong   []string
}

func (j *journal) add(e entry) {
	j.mu.Lock()
	defer j.mu.Unlock()
	j.entries = append(j.entries, e)
}

func (j *journal) enter(node string, lease *activation.Lease) {
	j.mu.Lock()
	defer j.mu.Unlock()
	for other, of := range j.serving {
		if lease.Valid() && other.Valid() {
			j.wrong = append(j.wrong, fmt.Sprintf("%s (token %d) and %s (token %d) are served",
				node, lease.Token(), of, other.Token()))
		}
	}
	if lease.Valid() && lease.Token() < j.newest {
		j.wrong = append(j.wrong, fmt.Sprintf("token %d after %d", lease.Token(), j.newest))
	}
	j.newest = max(j.newest, lease.Token())
	if j.serving == nil {
		j.serving = map[*activation.Lease]string{}
	}
	j.serving[lease] = node
}

func (j *journal) leave(lease *activation.Lease) {
	j.mu.Lock()
	defer j.mu.Unlock()
	delete(j.serving, lease)
}

// served lists the messages that a node was served.
func (j *journal) served(node string) (all []string) {
	j.mu.Lock()
	defer j.mu.Unlock()
	for _, e := range j.entries {
		if e.node == node {
			all = append(all, e.message)
		}
	}
	return all
}

// last gives the newest entry of a node.
func (j *journal) last(t *testing.T, node string) (last entry) {
	t.Helper()
	j.mu.Lock()
	defer j.mu.Unlock()
	for _, e := range j.entries {
		if e.node == node {
			last = e
		}
	}
	require.NotZero(t, last, node)
	return last
}
