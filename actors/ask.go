package actors

import (
	"context"
	"fmt"

	"github.com/asynkron/protoactor-go/actor"
)

// Ask sends one of the questions of package messages (ReadQueue, ReadLocks, AskBack, Break, SetPermits,
// FindDeadlocks) to the session and waits for the answer, which may be a refusal. It returns ErrSessionClosed when
// the session has ended, and an error that wraps that of ctx when ctx ends first: the question is then taken back,
// but one that does something may have done it.
//
// It is for goroutines. An actor sends the question to PID by itself, and gets the answer as a message.
func (s *Session) Ask(ctx context.Context, question any) (answer any, err error) {
	if taskOf(question) == nil {
		return nil, fmt.Errorf("%w: %T is no question", ErrBadAcquire, question)
	}
	if ctx.Err() != nil {
		return nil, fmt.Errorf("turnstile: %T: %w", question, context.Cause(ctx))
	}
	got := make(chan any, 1)
	props := actor.PropsFromProducer(func() actor.Actor { return &asking{session: s.pid, question: question, got: got} })
	pid := s.system.Root.Spawn(props)
	select {
	case answer = <-got:
	case <-ctx.Done():
		s.system.Root.Send(pid, &forget{})
		select {
		case answer = <-got: // both: what happened counts
		default:
			return nil, s.Explain(fmt.Errorf("turnstile: %T: %w", question, context.Cause(ctx)))
		}
	}
	if answer == nil {
		return nil, ErrSessionClosed
	}
	return answer, nil
}

// asking is the adapter between a session actor and a goroutine that waits for an answer. Futures would lose it
// (protoactor issue 1145).
type asking struct {
	session  *actor.PID
	question any
	got      chan any // holds one, so that nobody ever blocks on it
	over     bool
}

// sessionGone is what the adapter sends to itself when the session actor has ended: Terminated overtakes the
// answer, this does not.
type sessionGone struct{}

// Receive takes one message.
func (a *asking) Receive(ctx actor.Context) {
	switch msg := ctx.Message().(type) {
	case *actor.Started:
		ctx.Watch(a.session) // never wait for an answer without watching who owes it
		ctx.Request(a.session, a.question)
	case *forget:
		ctx.Request(a.session, &forget{})
		a.end(ctx)
	case *actor.Terminated:
		ctx.Send(ctx.Self(), &sessionGone{})
	case *sessionGone, *actor.DeadLetterResponse:
		a.take(ctx, nil)
	case actor.SystemMessage, actor.AutoReceiveMessage:
	default:
		a.take(ctx, msg)
	}
}

// take hands the answer over, once.
func (a *asking) take(ctx actor.Context, answer any) {
	if !a.over {
		a.got <- answer
		a.end(ctx)
	}
}

func (a *asking) end(ctx actor.Context) {
	a.over = true
	ctx.Unwatch(a.session)
	ctx.Stop(ctx.Self())
}
