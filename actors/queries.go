package actors

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/asynkron/protoactor-go/actor"

	"github.com/turnstile-locks/turnstile/actors/inspect"
	"github.com/turnstile-locks/turnstile/actors/internal/carrier"
	"github.com/turnstile-locks/turnstile/actors/internal/coordinator"
	"github.com/turnstile-locks/turnstile/actors/internal/mailbox"
	"github.com/turnstile-locks/turnstile/messages"
	"github.com/turnstile-locks/turnstile/zkconn"
	"github.com/turnstile-locks/turnstile/zkconn/retry"
)

// The session actor takes the queries of package messages from any actor. Package inspect answers
// them; the session lends it workers, timers, and its knowledge of its own nodes.

func (s *session) newDispatcher() *inspect.Dispatcher {
	return inspect.NewDispatcher(inspect.Session{
		Run: func(work func(*zkconn.Conn) (then func())) {
			s.work(func(conn *zkconn.Conn, d *queryDone) { d.then = work(conn) })
		},
		After:  s.after,
		Unused: s.unused,
		Calls:  s.calls,
		Inside: s.withoutNode,
	})
}

// follow takes an actor that wants to know who contends for a lock.
func (s *session) follow(ctx actor.Context, path string) {
	asker := ctx.Sender()
	if asker == nil {
		return
	}
	if key := messages.IDOf(asker).Key(s.system.ID); s.queries.Follow(key, path, s.replyTo(asker)) {
		s.followers[key] = asker
		ctx.Watch(asker)
	}
}

// replyTo gives the function that answers an actor; nil is nobody.
func (s *session) replyTo(asker *actor.PID) func(answer any) {
	return func(answer any) {
		if asker != nil {
			s.system.Root.Send(asker, answer)
		}
	}
}

// unused reports whether a node is one of this session with which nobody holds or waits any more.
func (s *session) unused(node messages.Contender) bool {
	return node.Session == s.info.session && s.decides.Unused(node.Path, node.Node)
}

// calls gives the calls above this session, below a root, that have nodes or wait behind them.
func (s *session) calls(root string) (all []messages.Contender) {
	for _, above := range s.above.all() {
		all = append(all, above.Nodes(root)...)
	}
	return all
}

// mostInside bounds the requests that one answer to messages.ReadInside describes.
const mostInside = 100

// withoutNode gives the first requests of this session that wait without a node, below a root, and counts all.
func (s *session) withoutNode(root string) (first []messages.Contender, all int) {
	specs, all := s.decides.WithoutNode(root, mostInside)
	for _, sp := range specs {
		first = append(first, s.contender(sp, ""))
	}
	for _, above := range s.above.all() {
		more, further := above.Inside(root, mostInside)
		first, all = append(first, more...), all+further
	}
	slices.SortStableFunc(first, func(a, b messages.Contender) int { return a.Since.Compare(b.Since) })
	return first[:min(len(first), mostInside)], all
}

// contender describes a request of this session, as package inspect describes it from its node's data.
func (s *session) contender(sp *coordinator.Spec, node string) messages.Contender {
	c := messages.Contender{Path: sp.Want.Path, Node: node, Mode: sp.Style.Mode, Name: sp.Style.Name,
		Weight: sp.Style.Weight, Session: s.info.session, Library: messages.LibraryTurnstile, ID: sp.ID}
	carrier.OwnerOf(sp).Describe(&c)
	return c
}

// Ask sends one of the queries of package messages (ReadQueue, ReadLocks, FindMissing, ReadInside,
// SendRevokeRequest, Break, SetPermits, FindDeadlocks) to the session and waits for the answer,
// which may be a refusal. It returns ErrSessionClosed when the session has ended, and an error that
// wraps the error of ctx when ctx ends first: the query is then withdrawn, but one that acts may
// have acted.
//
// It is for goroutines. An actor sends the query to PID by itself, and gets the answer as a
// message.
func (s *Session) Ask(ctx context.Context, query any) (answer any, err error) {
	if !inspect.IsQuery(query) {
		return nil, inspect.Check(query)
	}
	if ctx.Err() != nil {
		return nil, fmt.Errorf("turnstile: %T: %w", query, context.Cause(ctx))
	}
	q := &asked{query: query, answer: make(chan any, 1)}
	s.system.Root.Send(s.pid, q)
	select {
	case answer = <-q.answer:
		return answer, nil
	case <-s.stopped:
	case <-ctx.Done():
		s.system.Root.Send(s.pid, &withdrawn{q})
		err = s.Explain(fmt.Errorf("turnstile: %T: %w", query, context.Cause(ctx)))
	}
	select {
	case answer = <-q.answer: // both: what happened counts
		return answer, nil
	default:
		return nil, cmp.Or(err, ErrSessionClosed)
	}
}

// asked is a query of a goroutine that waits for the answer; withdrawn says that it waits no more.
type (
	asked struct {
		mailbox.Quiet
		query  any
		answer chan any // holds one, so that the session never blocks on it
	}
	withdrawn struct{ *asked }
)

// Read gives the data of a node, as the session's server shows it. That is not older than anything
// that this session was told, such as the outcome of a Transact before. It waits for a connection,
// and reads again when one is lost.
//
// The error wraps zkconn's errors for a read that the servers refuse, such as ErrNoNode, the error
// of ctx when it ends first, and ErrNotHolding when the session of that epoch is over: the server
// of a later session may show less.
func (s *Session) Read(ctx context.Context, epoch uint64, path string) ([]byte, zkconn.Stat, error) {
	for tries := 1; ; tries++ {
		conn, err := s.connected(ctx, epoch)
		if err != nil {
			return nil, zkconn.Stat{}, err
		}
		r := readOn(ctx, conn, path)
		switch outcome := zkconn.OutcomeOf(r.err); {
		case outcome == zkconn.Applied || outcome == zkconn.Refused || errors.Is(r.err, zkconn.ErrBadPath):
			return r.data, r.stat, r.err
		}
		select {
		case <-time.After(retry.Unknown.Pause(tries)):
		case <-ctx.Done(): // connected says so
		}
	}
}

// reading is the answer to a read.
type reading struct {
	data []byte
	stat zkconn.Stat
	err  error
}

// readOn reads until there is an answer, or ctx ends.
func readOn(ctx context.Context, conn *zkconn.Conn, path string) reading {
	answer := make(chan reading, 1)
	go func() {
		data, stat, err := conn.Get(path)
		answer <- reading{data, stat, err}
	}()
	select {
	case r := <-answer:
		return r
	case <-ctx.Done():
		return reading{err: zkconn.ErrUnknownOutcome}
	}
}

// connected waits for a connection of an epoch.
func (s *Session) connected(ctx context.Context, epoch uint64) (*zkconn.Conn, error) {
	for {
		now, changed := s.Connection()
		conn := s.conn.Load()
		switch {
		case ctx.Err() != nil:
			return nil, s.Explain(fmt.Errorf("turnstile: read: %w", context.Cause(ctx)))
		case now.Phase == Closed || conn == nil || conn.Epoch() != epoch:
			return nil, ErrNotHolding
		case now.Phase == Connected || now.Phase == Unanswered:
			return conn, nil
		}
		select {
		case <-changed:
		case <-ctx.Done():
		}
	}
}
