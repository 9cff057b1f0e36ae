package rig

import (
	"context"
	"fmt"
	"net"
	"time"

	"github.com/go-zookeeper/zk"
)

// WithReconfig lets the members of an ensemble change while it runs: see [Ensemble.Replace].
func WithReconfig() Option {
	return func(s *settings) {
		WithConfig("reconfigEnabled", "true")(s)
		WithSystemProperty("zookeeper.skipACL", "yes")(s) // the members' node is for a superuser only
	}
}

// Newcomer prepares a server that is no member yet, with a number and ports of its own. It does not run.
func (e *Ensemble) Newcomer() (*Server, error) {
	if err := e.add(e.members[0].settings); err != nil {
		return nil, err
	}
	return e.members[len(e.members)-1], nil
}

// Replace starts a newcomer with empty data, makes it a member, takes an old member out and kills it. The other members
// run all the time.
func (e *Ensemble) Replace(ctx context.Context, old, by *Server) error {
	joining, leaving := "", ""
	for i, member := range e.members {
		if member.answers() || member == by {
			joining = e.peers[i].line(i+1, e.peers[i].quorum, e.peers[i].election)
			by.quorum = append(by.quorum, joining)
		}
		if member == old {
			leaving = fmt.Sprint(i + 1)
		}
	}
	if err := by.serve(ctx); err != nil {
		return err
	}
	if err := reconfigure(ctx, by.Addr(), []string{joining + ";" + by.Addr()}, nil); err != nil {
		return err
	}
	if err := reconfigure(ctx, by.Addr(), nil, []string{leaving}); err != nil {
		return err
	}
	return old.Kill()
}

// reconfigure changes the members. A change that was made and not answered, as while a leader goes, is made again and
// found to be made.
func reconfigure(ctx context.Context, addr string, joining, leaving []string) error {
	conn, events, err := zk.Connect([]string{addr}, 30*time.Second, zk.WithLogger(Silent{}),
		zk.WithDialer(func(network, address string, _ time.Duration) (net.Conn, error) {
			return (&net.Dialer{Timeout: startTimeout}).DialContext(ctx, network, address)
		}))
	if err != nil {
		return fmt.Errorf("rig: reconfigure: %w", err)
	}
	defer func() {
		conn.Close()
		for range events { // its goroutines have ended when the channel is closed
		}
	}()
	for {
		_, err := conn.IncrementalReconfig(joining, leaving, -1)
		if err == nil {
			return nil
		}
		select {
		case <-ctx.Done():
			return fmt.Errorf("rig: reconfigure, joining %v, leaving %v: %w", joining, leaving, err)
		case <-time.After(100 * time.Millisecond):
		}
	}
}
