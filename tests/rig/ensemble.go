package rig

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"sync"
	"testing"
	"time"
)

// Ensemble is several servers on loopback that replicate one tree.
type Ensemble struct {
	members []*Server
	peers   []peer
}

// peer has the ports at which one member talks to the others.
type peer struct {
	quorum, election int
	observer         bool
}

// line tells a member where to reach the member with this id.
func (p peer) line(id, quorum, election int) string {
	line := fmt.Sprintf("server.%d=127.0.0.1:%d:%d", id, quorum, election)
	if p.observer {
		line += ":observer"
	}
	return line
}

// StartEnsemble starts that many servers, waits until all serve and one leads,
// and stops them when the test ends. It calls [Require].
func StartEnsemble(t testing.TB, members int, opts ...Option) *Ensemble {
	t.Helper()
	Require(t)
	ensemble, err := NewEnsemble(members, opts...)
	if err != nil {
		t.Fatal(err)
	}
	stopAtEnd(t, ensemble.Stop, ensemble.members...)
	return ensemble
}

// NewEnsemble starts n servers and waits until all serve and one leads. The
// caller stops it.
func NewEnsemble(n int, opts ...Option) (*Ensemble, error) {
	prepare := func() (*Ensemble, error) { return prepareEnsemble(n, newSettings(opts)) }
	return launch(prepare, (*Ensemble).start)
}

// prepareEnsemble starts nothing yet. The ensemble is to be stopped even when there is an error.
func prepareEnsemble(n int, settings settings) (*Ensemble, error) {
	e := &Ensemble{}
	if n < 2 {
		return e, fmt.Errorf("rig: an ensemble of %d members: it takes two at least, and three to survive a loss", n)
	}
	for i := range n {
		if err := e.add(settings.member(i)); err != nil {
			return e, err
		}
	}
	for _, member := range e.members {
		member.quorum = e.quorumLines()
	}
	return e, nil
}

// add prepares one more member, with a number and ports of its own.
func (e *Ensemble) add(settings settings) error {
	quorum, err := TakePort()
	if err != nil {
		return err
	}
	election, err := TakePort()
	if err != nil {
		ReleasePort(quorum)
		return err
	}
	e.peers = append(e.peers, peer{quorum, election, settings.config[peerType] == observer})
	member, err := newServer(len(e.peers), settings)
	if err == nil {
		e.members = append(e.members, member)
	}
	return err
}

// quorumLines tells a member where its peers are. All members are told the
// same; a member that is to reach the others through proxies of its own would
// be told theirs.
func (e *Ensemble) quorumLines() []string {
	lines := make([]string, len(e.peers))
	for i, p := range e.peers {
		lines[i] = p.line(i+1, p.quorum, p.election)
	}
	return lines
}

func (e *Ensemble) start(ctx context.Context) error {
	// When one member dies of a taken port the others would wait for it in vain.
	serving, cancel := context.WithCancel(ctx)
	defer cancel()
	errs := make([]error, len(e.members))
	var waiting sync.WaitGroup
	for i, member := range e.members {
		waiting.Go(func() {
			if errs[i] = member.serve(serving); errs[i] != nil {
				cancel()
			}
		})
	}
	waiting.Wait()
	if err := errors.Join(errs...); err != nil {
		return err
	}
	_, err := e.Leader(ctx)
	return err
}

// Addrs is the connection string: all members, separated by commas.
func (e *Ensemble) Addrs() string {
	addrs := make([]string, len(e.members))
	for i, member := range e.members {
		addrs[i] = member.Addr()
	}
	return strings.Join(addrs, ",")
}

// Members returns all members, running or not, in the order of their ids.
func (e *Ensemble) Members() []*Server { return append([]*Server(nil), e.members...) }

// Leader returns the member that leads, and waits until there is one. Members
// that do not run or are paused are not asked. A leader that was just resumed
// may say for a moment that it still leads.
func (e *Ensemble) Leader(ctx context.Context) (*Server, error) {
	for {
		if leaders := e.inMode(ctx, "leader"); len(leaders) == 1 {
			return leaders[0], nil
		}
		select {
		case <-ctx.Done():
			return nil, fmt.Errorf("rig: no leader: %w", ctx.Err())
		case <-time.After(pollInterval):
		}
	}
}

// Waiting returns the members that follow now. It does not wait.
func (e *Ensemble) Waiting(ctx context.Context) ([]*Server, error) {
	followers := e.inMode(ctx, "follower")
	if err := ctx.Err(); err != nil {
		return nil, fmt.Errorf("rig: followers: %w", err)
	}
	return followers, nil
}

func (e *Ensemble) inMode(ctx context.Context, mode string) []*Server {
	modes := make([]string, len(e.members))
	var asking sync.WaitGroup
	for i, member := range e.members {
		if !member.answers() {
			continue
		}
		asking.Go(func() {
			question, cancel := context.WithTimeout(ctx, questionTimeout)
			defer cancel()
			// One that does not answer is in no mode.
			modes[i], _ = member.Address().Mode(question)
		})
	}
	asking.Wait()
	var found []*Server
	for i, member := range e.members {
		if modes[i] == mode {
			found = append(found, member)
		}
	}
	return found
}

// Stop ends all members and removes their data, for good.
func (e *Ensemble) Stop() error {
	var errs []error
	for _, member := range e.members {
		errs = append(errs, member.Stop())
	}
	for _, p := range e.peers {
		ReleasePort(p.quorum, p.election)
	}
	e.peers = nil
	return errors.Join(errs...)
}
