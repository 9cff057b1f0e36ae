package actors

import (
	"slices"
	"sync"

	"github.com/asynkron/protoactor-go/actor"
)

// mailbox is the mailbox of a lock actor. Of those there may be a hundred thousand, each of which gets a few messages in
// its life: protoactor's own mailbox costs some 400 bytes and a dozen allocations more. Its rules are the same: system
// messages come first, one message is taken at a time, and a panic is the supervisor's.
type mailbox struct {
	invoker actor.MessageInvoker

	mu           sync.Mutex
	system, user []any
	first        [2]any // where the first messages of users are kept
	running      bool
	suspended    bool
}

func newMailbox() actor.Mailbox {
	m := &mailbox{}
	m.user = m.first[:0]
	return m
}

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
	m.mu.Lock()
	m.user = append(m.user, message)
	m.schedule()
}

// PostSystemMessage puts in a message that comes before those of users.
func (m *mailbox) PostSystemMessage(message any) {
	m.mu.Lock()
	m.system = append(m.system, message)
	m.schedule()
}

// schedule has the messages taken, unless they are being taken. It is called with the lock, which it gives back.
func (m *mailbox) schedule() {
	start := !m.running
	m.running = true
	m.mu.Unlock()
	if start {
		m.take()
	}
}

// RegisterHandlers says who takes the messages. Where is said already: a lock actor runs on the goroutine that sends to
// it, when it is not running already, because what it does is short, it never waits, and a goroutine of its own would
// cost more than that.
func (m *mailbox) RegisterHandlers(invoker actor.MessageInvoker, _ actor.Dispatcher) {
	m.invoker = invoker
}

// Start is called once all is set.
func (m *mailbox) Start() {}

// UserMessageCount is how many wait.
func (m *mailbox) UserMessageCount() int {
	m.mu.Lock()
	defer m.mu.Unlock()
	return len(m.user)
}

// take takes messages until there are none.
func (m *mailbox) take() {
	for {
		message, system, some := m.next()
		if !some {
			return
		}
		m.invoke(message, system)
	}
}

func (m *mailbox) next() (message any, system, some bool) {
	m.mu.Lock()
	defer m.mu.Unlock()
	switch {
	case len(m.system) > 0:
		message = m.system[0]
		m.system = slices.Delete(m.system, 0, 1)
		return message, true, true
	case len(m.user) > 0 && !m.suspended:
		message = m.user[0]
		m.user = slices.Delete(m.user, 0, 1)
		return message, false, true
	}
	m.system, m.user = keepSmall(m.system, nil), keepSmall(m.user, m.first[:0])
	m.running = false
	return nil, false, false
}

// keepSmall gives back the memory of a burst. Messages that wait for a mailbox that was suspended stay.
func keepSmall(queue, small []any) []any {
	const few = 4
	if len(queue) == 0 && cap(queue) > few {
		return small
	}
	return queue
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
