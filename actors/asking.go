package actors

import (
	"errors"
	"sync/atomic"
	"time"

	"github.com/asynkron/protoactor-go/actor"

	"github.com/turnstile-locks/turnstile/messages"
	"github.com/turnstile-locks/turnstile/zkconn"
)

// The questions of package messages are answered by anybody's session. They are read on goroutines, outlast a loss
// of connection and an epoch, and are asked anew when their outcome is unknown: each may be carried out twice
// without harm.

// inquiry is a question that has not been answered yet.
type inquiry struct {
	asker *actor.PID // nil when nobody waits for the answer
	task
	// The epochs in which it is being carried out, and in which it has failed a moment ago; zero for none.
	running, resting uint64
}

// task is what a question asks for.
type task interface {
	// check tells what is wrong with the question itself.
	check() error
	// answer reads and does what is asked for. It is called on a goroutine of its own, more than once where an
	// outcome is unknown. What it returns may be a delayed task, which is to answer in its place.
	answer(conn *zkconn.Conn) (any, error)
	// refuse is the answer when there is none.
	refuse(why messages.Refusal) any
}

// delayed is a task that is to be carried out in some time.
type delayed interface {
	task
	in() time.Duration
}

// amended is an answer that the session has something to say to.
type amended interface{ amend(s *session) any }

// forget takes back what an actor has asked.
type forget struct{}

// inquire takes a question, or any other message that is no concern of the session's.
func (s *session) inquire(asker *actor.PID, msg any) {
	t := taskOf(msg)
	if _, ok := msg.(*forget); ok && asker != nil {
		for q := range s.inquiries {
			if q.asker != nil && q.asker.Equal(asker) {
				delete(s.inquiries, q)
			}
		}
	}
	if t == nil {
		return
	}
	q := &inquiry{asker: asker, task: t}
	if err := t.check(); err != nil {
		s.reply(q, t.refuse(refusal(err)))
		return
	}
	if s.inquiries == nil {
		s.inquiries = map[*inquiry]struct{}{}
	}
	s.inquiries[q] = struct{}{}
}

// taskOf gives what a message asks for, nil for one that asks nothing.
func taskOf(msg any) task {
	switch m := msg.(type) {
	case *messages.ReadQueue:
		return readQueueTask{*m}
	case messages.ReadQueue:
		return readQueueTask{m}
	case *messages.ReadLocks:
		return readLocksTask{*m}
	case messages.ReadLocks:
		return readLocksTask{m}
	case *messages.AskBack:
		return askBackTask{*m}
	case messages.AskBack:
		return askBackTask{m}
	case *messages.Break:
		return breakTask{*m, new(atomic.Bool)}
	case messages.Break:
		return breakTask{m, new(atomic.Bool)}
	case *messages.SetPermits:
		return setPermitsTask{*m}
	case messages.SetPermits:
		return setPermitsTask{m}
	case *messages.FindDeadlocks:
		return findDeadlocksTask{*m}
	case messages.FindDeadlocks:
		return findDeadlocksTask{m}
	case *lookOut:
		return lookOutTask{*m}
	}
	return nil
}

// attend sees to the questions that wait. It is called after every message.
func (s *session) attend() {
	for q := range s.inquiries {
		switch {
		case s.ending:
			delete(s.inquiries, q)
			s.reply(q, q.refuse(messages.Refusal{Reason: messages.ReasonSessionClosed}))
		case s.connected && q.resting != s.lease.epoch && q.running != s.lease.epoch:
			s.startInquiry(q)
		}
	}
}

func (s *session) startInquiry(q *inquiry) {
	q.running = s.lease.epoch
	t := q.task
	s.run(func(conn *zkconn.Conn) func() {
		answer, err := t.answer(conn)
		return func() { s.inquired(q, answer, err) }
	})
}

// inquired takes the outcome of a question, which is its answer, or a reason to ask again.
func (s *session) inquired(q *inquiry, answer any, err error) {
	q.running = 0
	if _, waits := s.inquiries[q]; !waits {
		return
	}
	if err != nil && again(err) {
		s.askLater(q, 50*time.Millisecond)
		return
	}
	if next, more := answer.(delayed); more && err == nil {
		q.task = next
		s.askLater(q, next.in())
		return
	}
	delete(s.inquiries, q)
	if own, some := answer.(amended); some {
		answer = own.amend(s)
	}
	if err != nil {
		answer = q.refuse(refusal(err))
	}
	s.reply(q, answer)
}

// askLater lets a question rest; in a later epoch it is asked at once.
func (s *session) askLater(q *inquiry, wait time.Duration) {
	q.resting = s.lease.epoch
	s.after(max(wait, 0), func() { q.resting = 0 })
}

func (s *session) reply(q *inquiry, answer any) {
	if q.asker != nil {
		s.system.Root.Send(q.asker, answer)
	}
}

// again tells whether a question that failed may be answered another time.
func again(err error) bool {
	for _, mine := range []error{zkconn.ErrBadPath, zkconn.ErrTooLarge, errGone} {
		if errors.Is(err, mine) {
			return false
		}
	}
	outcome := zkconn.OutcomeOf(err)
	return outcome == zkconn.NotSent || outcome == zkconn.Unknown
}

// errGone: the contender that was named is not there.
var errGone = errors.New("turnstile: the contender is gone")

// refusal puts an error into words that may cross a wire.
func refusal(err error) messages.Refusal {
	r := messages.Refusal{Reason: messages.ReasonRefused, Detail: err.Error()}
	switch {
	case errors.Is(err, zkconn.ErrNoAuth):
		r.Reason = messages.ReasonNoAuth
	case errors.Is(err, zkconn.ErrBadPath), errors.Is(err, zkconn.ErrTooLarge), errors.Is(err, ErrBadAcquire):
		r.Reason = messages.ReasonBadInput
	case errors.Is(err, errGone):
		r.Reason = messages.ReasonGone
	}
	return r
}

// checkRoot is CheckPath for a root below which locks are looked for, which may be "/".
func checkRoot(root string) error {
	if root == "/" {
		return nil
	}
	return zkconn.CheckPath(root)
}
