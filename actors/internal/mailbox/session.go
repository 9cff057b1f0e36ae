package mailbox

import (
	"math"
	"sync"
	"sync/atomic"

	"github.com/asynkron/protoactor-go/actor"
)

// sessionMailbox is the mailbox of a session actor. While the session actor is idle, orders of lock
// actors and results of workers run on the goroutine that sends them, so a hand-over within the
// session wakes only the next holder. Other messages run on a worker, because their sender may hold
// a mutex that the session actor needs. Messages that come meanwhile run on the same goroutine, up
// to a bound.
type sessionMailbox struct {
	mailbox
	workers *Workers
	own     func(message any) bool
}

// takenForOthers bounds the messages that the goroutine of a caller of Lock or Unlock takes.
const takenForOthers = 16

// NewSession makes the mailbox of a session actor that has these workers. own says whether a lock
// actor or a worker sends a message.
func NewSession(w *Workers, own func(message any) bool) actor.MailboxProducer {
	return func() actor.Mailbox { return &sessionMailbox{mailbox: mailbox{running: true}, workers: w, own: own} }
}

func (*sessionMailbox) TakesFromOtherNodes(bool) bool { return false }

func (m *sessionMailbox) Start() { m.takeElsewhere() }

func (m *sessionMailbox) takeElsewhere() { m.workers.Do(func() { m.take(math.MaxInt) }) }

func (m *sessionMailbox) PostUserMessage(message any) {
	if m.put(&m.user, message) && (!m.own(message) || m.take(takenForOthers)) {
		m.takeElsewhere()
	}
}

func (m *sessionMailbox) PostSystemMessage(message any) {
	if m.put(&m.system, message) {
		m.takeElsewhere()
	}
}

// Workers are goroutines that outlive their tasks. A new one copies its stack as it grows, which
// was a quarter of the cost of a hand-off.
type Workers struct {
	tasks chan func()
	over  chan struct{}
	once  sync.Once
	idle  atomic.Int32
}

const idleWorkers = 16

// NewWorkers makes workers that idle.
func NewWorkers() *Workers {
	return &Workers{tasks: make(chan func()), over: make(chan struct{})}
}

// Do has a worker carry out a task at once: an idle one if there is any.
func (w *Workers) Do(task func()) {
	select {
	case w.tasks <- task:
	default:
		go w.work(task)
	}
}

func (w *Workers) work(task func()) {
	for {
		task()
		if w.idle.Add(1) > idleWorkers {
			w.idle.Add(-1)
			return
		}
		select {
		case task = <-w.tasks:
			w.idle.Add(-1)
		case <-w.over:
			return
		}
	}
}

// End lets the idle ones go, and the others after their tasks.
func (w *Workers) End() { w.once.Do(func() { close(w.over) }) }
