package main

import (
	"context"
	"fmt"
	"net"
	"slices"
	"strings"
	"sync/atomic"
	"time"

	"github.com/asynkron/protoactor-go/actor"

	"github.com/turnstile-locks/turnstile/locks"
	"github.com/turnstile-locks/turnstile/tests/rig"
)

// subject is a session that holds a lock, behind relays of its own.
type subject struct {
	path   string
	relays []*relay
	client *locks.Client
	lease  *locks.Lease
	tried  atomic.Int64 // attempts to connect
}

// outcome is the result of one outage.
type outcome struct {
	lost  bool
	left  time.Duration // what the lease had to run when the outage began
	slow  time.Duration // the slowest write of the probe
	tried int
	back  time.Duration // from the end of the outage until the lease was renewed
	spare time.Duration // what it still had to run then
}

// newSubject opens a session with servers and takes a lock. deadNames are servers of which nothing is heard.
func newSubject(ctx context.Context, system *actor.ActorSystem, servers, deadNames []string, timeout time.Duration, path string) (*subject, error) {
	s := &subject{path: path}
	var connect []string
	for _, server := range servers {
		r, err := newRelay(server)
		if err != nil {
			s.close(ctx)
			return nil, err
		}
		s.relays = append(s.relays, r)
		connect = append(connect, r.addr)
	}
	var err error
	s.client, err = locks.Open(ctx, strings.Join(append(connect, deadNames...), ","), locks.WithActorSystem(system),
		locks.WithSessionTimeout(timeout), locks.WithDialer(s.dial(deadNames)))
	if err == nil {
		err = s.lock(ctx)
	}
	if err != nil {
		s.close(ctx)
		return nil, err
	}
	return s, nil
}

// dial counts, and waits in vain for a server that is dead.
func (s *subject) dial(deadNames []string) func(context.Context, string, string) (net.Conn, error) {
	return func(ctx context.Context, network, address string) (net.Conn, error) {
		s.tried.Add(1)
		if slices.Contains(deadNames, address) {
			<-ctx.Done()
			return nil, ctx.Err()
		}
		return new(net.Dialer).DialContext(ctx, network, address)
	}
}

func (s *subject) lock(ctx context.Context) (err error) {
	s.lease, err = s.client.Mutex(s.path).Lock(ctx)
	if err != nil {
		return fmt.Errorf("outages: lock %s: %w", s.path, err)
	}
	return nil
}

// pollEvery is the precision with which a renewal is seen.
const pollEvery = 2 * time.Millisecond

// outage has one, and waits until it is known what came of it.
func (s *subject) outage(ctx context.Context, p *probe, length, timeout time.Duration, hangUp bool) (found outcome, err error) {
	before, tried, begun := s.lease.Deadline(), s.tried.Load(), time.Now()
	found.left = before.Sub(begun)
	for _, r := range s.relays {
		r.down(hangUp)
	}
	rig.Rest(ctx, length)
	ended := time.Now()
	for _, r := range s.relays {
		if err := r.up(); err != nil {
			return found, err
		}
	}
	for ctx.Err() == nil && s.lease.Context().Err() == nil {
		if until := s.lease.Deadline(); until.After(before) {
			found.back, found.spare = time.Since(ended), time.Until(before)
			break
		}
		rig.Rest(ctx, pollEvery)
	}
	// Whether a lease that was renewed only when it had run out is known to be lost.
	rig.Rest(ctx, timeout*45/100-time.Since(begun))
	found.lost = s.lease.Context().Err() != nil
	if found.slow, err = p.slowest(begun); err != nil {
		return found, err
	}
	found.tried = int(s.tried.Load() - tried)
	if !found.lost {
		return found, ctx.Err()
	}
	return found, s.lock(ctx)
}

func (s *subject) close(ctx context.Context) {
	if s.client != nil {
		_ = s.client.Close(ctx)
	}
	for _, r := range s.relays {
		r.close()
	}
}
