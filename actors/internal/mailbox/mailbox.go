// Package mailbox has mailboxes for many small actors and few goroutines to wake: of lock actors,
// session actors, and actors whose names are known before they are spawned. It also has the workers
// of a session, and the log of an actor system.
package mailbox

import (
	"math"
	"sync"

	"github.com/asynkron/protoactor-go/actor"
)

// mailbox is the mailbox of a lock actor. Each of a hundred thousand gets a few messages:
// protoactor's own mailbox costs some 400 bytes and a dozen allocations more. The rules are the
// same: system messages first, one message at a time, a panic is the supervisor's.
type mailbox struct {
	invoker actor.MessageInvoker

	mu           sync.Mutex
	system, user fifo
	first        [2]any
	// running: somebody takes messages; also until Start: a sender may know the name before.
	running   bool
	suspended bool
}

// TakesFromOtherNodes says whether an actor takes messages, or protoactor's commands, from other
// nodes where gateway.WithRecovery is set, which asks a nil mailbox. A lock actor takes none.
// Mailboxes without this method take all.
func (*mailbox) TakesFromOtherNodes(bool) bool { return false }

// New makes the mailbox of a lock actor.
func New() actor.Mailbox {
	m := &mailbox{running: true}
	m.user.all = m.first[:0]
	return m
}

type remoteMailbox struct{ mailbox }

func (*remoteMailbox) TakesFromOtherNodes(bool) bool { return true }

// NewRemote is New for actors.WithRemote.
func NewRemote() actor.Mailbox { return &remoteMailbox{mailbox{running: true}} }

// PostUserMessage puts in a message, and before it each of a batch that it is.
func (m *mailbox) PostUserMessage(message any) {
	inside := message
	if env, ok := message.(*actor.MessageEnvelope); ok {
		inside = env.Message
	}
	if batch, ok := inside.(actor.MessageBatch); ok {
		for _, each := range batch.GetMessages() {
			m.PostUserMessage(each)
		}
	}
	if m.put(&m.user, message) {
		m.take(math.MaxInt)
	}
}

func (m *mailbox) PostSystemMessage(message any) {
	if m.put(&m.system, message) {
		m.take(math.MaxInt)
	}
}

func (m *mailbox) put(queue *fifo, message any) (start bool) {
	m.mu.Lock()
	defer m.mu.Unlock()
	queue.all = append(queue.all, message)
	start = !m.running
	m.running = true
	return start
}

// RegisterHandlers sets the invoker of the messages. A lock actor runs on the goroutine that sends
// to it, unless it is running already: its work is short and never waits, and a goroutine would
// cost more.
func (m *mailbox) RegisterHandlers(invoker actor.MessageInvoker, _ actor.Dispatcher) {
	m.invoker = invoker
}

func (m *mailbox) Start() { m.take(math.MaxInt) }

func (m *mailbox) UserMessageCount() int {
	m.mu.Lock()
	defer m.mu.Unlock()
	return len(m.user.all) - m.user.head
}

// take takes messages, and reports whether there may be more.
func (m *mailbox) take(most int) (more bool) {
	for range most {
		message, system, some := m.next()
		if !some {
			return false
		}
		m.invoke(message, system)
	}
	return true
}

func (m *mailbox) next() (message any, system, some bool) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if message, some = m.system.pop(); some {
		return message, true, true
	}
	if !m.suspended {
		message, some = m.user.pop()
	}
	m.running = some
	return message, false, some
}

func (m *mailbox) invoke(message any, system bool) {
	defer func() {
		if r := recover(); r != nil {
			m.invoker.EscalateFailure(r, message)
		}
	}()
	switch {
	case !system:
		m.invoker.InvokeUserMessage(message)
	default:
		switch message.(type) {
		case *actor.SuspendMailbox:
			m.suspend(true)
		case *actor.ResumeMailbox:
			m.suspend(false)
		default:
			m.invoker.InvokeSystemMessage(message)
		}
	}
}

func (m *mailbox) suspend(on bool) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.suspended = on
}

type fifo struct {
	all  []any
	head int // those before it were taken
}

const few = 4

// pop takes the first message; false where the queue is empty. With the last of a burst its memory
// is given back.
func (f *fifo) pop() (message any, some bool) {
	if f.head == len(f.all) {
		return nil, false
	}
	message = f.all[f.head]
	f.all[f.head] = nil
	f.head++
	switch {
	case f.head == len(f.all) && cap(f.all) > few:
		f.all, f.head = nil, 0
	case f.head == len(f.all):
		f.all, f.head = f.all[:0], 0
	case f.head >= 64 && 2*f.head >= len(f.all): // so each message is moved once, on average
		left := copy(f.all, f.all[f.head:])
		clear(f.all[left:])
		f.all, f.head = f.all[:left], 0
	}
	return message, true
}

// Quiet is a part of messages to an ended actor that are dropped silently.
type Quiet struct{}

// IgnoreDeadLetterLogging keeps a dropped message out of the log.
func (Quiet) IgnoreDeadLetterLogging() {}

// IfThere gives an actor that has not ended to do, such as to be told something that is of no use to
// others: no dead letter comes of it, also where the actor ends meanwhile.
func IfThere(system *actor.ActorSystem, pid *actor.PID, do func(actor.Process)) {
	if process, there := system.ProcessRegistry.Get(pid); there {
		do(process)
	}
}

// Unwatch is ctx.Unwatch of an actor that may have ended.
func Unwatch(ctx actor.Context, pid *actor.PID) {
	IfThere(ctx.ActorSystem(), pid, func(p actor.Process) { p.SendSystemMessage(pid, &actor.Unwatch{Watcher: ctx.Self()}) })
}

// Named makes the mailbox of an actor whose name is known before it is spawned. The actor system
// registers the name before the mailbox knows who takes its messages: a message in between is a
// data race, or calls nil, and one right after comes before actor.Started. So this mailbox blocks
// senders until the spawn is done.
func Named() actor.Mailbox { return newNamed() }

func newNamed() *namedMailbox {
	return &namedMailbox{Mailbox: actor.Unbounded()(), registered: make(chan struct{}), started: make(chan struct{})}
}

type singletonMailbox struct{ *namedMailbox }

func (singletonMailbox) TakesFromOtherNodes(command bool) bool { return !command }

// Singleton makes the mailbox of a singleton: see Named.
func Singleton() actor.Mailbox { return singletonMailbox{newNamed()} }

type namedMailbox struct {
	actor.Mailbox
	registered chan struct{} // closed when it is known who takes messages
	started    chan struct{} // closed when actor.Started is in the mailbox
}

func (m *namedMailbox) RegisterHandlers(invoker actor.MessageInvoker, dispatcher actor.Dispatcher) {
	m.Mailbox.RegisterHandlers(invoker, dispatcher)
	close(m.registered)
}

func (m *namedMailbox) Start() {
	m.Mailbox.Start()
	close(m.started)
}

func (m *namedMailbox) PostUserMessage(message any) {
	<-m.started
	m.Mailbox.PostUserMessage(message)
}

func (m *namedMailbox) PostSystemMessage(message any) {
	<-m.registered
	m.Mailbox.PostSystemMessage(message)
}
