package actors

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/turnstile-locks/turnstile/actors/internal/retry"
	"github.com/turnstile-locks/turnstile/zkconn"
)

// Read gives the data of a node, as the session's server shows it: with all that this session has been told of, such as
// the outcome of a Transact before. It waits for a connection, and reads again when one is lost.
//
// The error wraps zkconn's for what the servers refuse, such as ErrNoNode, that of ctx when it ends first, and
// ErrNotHolding when the epoch is not that of the session any more: the server of a later session may show less.
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
		case <-time.After(retry.Pause(tries)):
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
