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

func (s *session) newDispatcher() *inspect.Dispatcher {
	return inspect.NewDispatcher(inspect.Session{
		Run: func(work func(*zkconn.Conn) (then func())) {
			s.work(func(conn *zkconn.Conn, d *queryDone) { d.then = work(conn) })
		},
		After:  func(d time.Duration, do func()) { s.after(d, do) },
		Unused: s.unused,
		Calls:  s.calls,
		Inside: s.withoutNode,
	})
}

func (s *session) follow(ctx actor.Context, msg messages.Follow) {
	asker := ctx.Sender()
	if asker == nil {
		return
	}
	if key := messages.IDOf(asker).Key(s.system.ID); s.queries.Follow(key, msg, s.replyTo(asker)) {
		s.followers[key] = asker
		ctx.Watch(asker)
	}
}

func (s *session) replyTo(asker *actor.PID) func(answer any) {
	return func(answer any) {
		if asker != nil {
			mailbox.IfThere(s.system, asker, func(p actor.Process) { p.SendUserMessage(asker, answer) })
		}
	}
}

func (s *session) unused(node messages.Contender) bool {
	return node.Session == s.info.session && s.decides.Unused(node.Path, node.Node)
}

func (s *session) calls(root string) (all []messages.Contender) {
	for _, above := range s.inside() {
		all = append(all, above.Nodes(root)...)
	}
	return all
}

const mostInside = 100

func (s *session) withoutNode(root string) (first []messages.Contender, all int) {
	specs, all := s.decides.WithoutNode(root, mostInside)
	for _, sp := range specs {
		first = append(first, s.contender(sp, ""))
	}
	for _, above := range s.inside() {
		more, further := above.Inside(root, mostInside)
		first, all = append(first, more...), all+further
	}
	slices.SortStableFunc(first, func(a, b messages.Contender) int { return a.Since.Compare(b.Since) })
	return first[:min(len(first), mostInside)], all
}

func (s *session) contender(sp *coordinator.Spec, node string) messages.Contender {
	c := messages.Contender{Path: sp.Want.Path, Node: node, Mode: sp.Style.Mode, Name: sp.Style.Name,
		Weight: sp.Style.Weight, Session: s.info.session, Library: messages.LibraryTurnstile, ID: sp.ID}
	carrier.OwnerOf(sp).Describe(&c)
	return c
}

// Ask sends a query (see package messages) to the session and waits for the answer, which may be a
// refusal. It returns ErrSessionClosed, or an error that wraps that of ctx: the query is then
// withdrawn, but one that acts may have acted. Actors send queries to PID instead.
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

type (
	asked struct {
		mailbox.Quiet
		query  any
		answer chan any // holds one: the session never blocks on it
	}
	withdrawn struct{ *asked }
)

// Read gives a node's data, not older than anything that this session was told, such as the outcome
// of a Transact. It waits for a connection, and reads again when one is lost.
//
// The error wraps zkconn's errors for a refused read, such as ErrNoNode, the error of ctx when it
// ends first, and ErrNotHolding when the session of that epoch is over: a later session's server
// may show less.
func (s *Session) Read(ctx context.Context, epoch uint64, path string) ([]byte, zkconn.Stat, error) {
	for tries := 1; ; tries++ {
		conn := s.connected(ctx, epoch, nil)
		switch {
		case ctx.Err() != nil:
			return nil, zkconn.Stat{}, s.Explain(fmt.Errorf("turnstile: read: %w", context.Cause(ctx)))
		case conn == nil:
			return nil, zkconn.Stat{}, ErrNotHolding
		}
		r := readOn(ctx, conn, path)
		switch outcome := zkconn.OutcomeOf(r.err); {
		case outcome == zkconn.Applied || outcome == zkconn.Refused || errors.Is(r.err, zkconn.ErrBadPath):
			return r.data, r.stat, r.err
		}
		select {
		case <-time.After(retry.Unknown.Pause(tries)):
		case <-ctx.Done():
		}
	}
}

type reading struct {
	data []byte
	stat zkconn.Stat
	err  error
}

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

// connected waits for a connection of an epoch; nil when that, or ctx, has ended, or over is closed.
func (s *Session) connected(ctx context.Context, epoch uint64, over <-chan struct{}) *zkconn.Conn {
	for {
		now, changed := s.Connection()
		conn := s.conn.Load()
		switch {
		case now.Phase == Closed || conn == nil || conn.Epoch() != epoch:
			return nil
		case now.Phase.connected():
			return conn
		}
		select {
		case <-changed:
		case <-ctx.Done():
			return nil
		case <-over:
			return nil
		}
	}
}
