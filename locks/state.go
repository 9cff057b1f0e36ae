package locks

import (
	"errors"
	"fmt"
	"time"

	"github.com/turnstile-locks/turnstile/actors"
	"github.com/turnstile-locks/turnstile/zkconn"
)

// State is what a client knows of its session: see Client.State.
type State = actors.Connection

// The phases of a connection: see State.Phase.
const (
	PhaseConnecting   = actors.Connecting
	PhaseConnected    = actors.Connected
	PhaseUnanswered   = actors.Unanswered
	PhaseDisconnected = actors.Disconnected
	PhaseClosed       = actors.Closed
)

// State tells the state of the client's connection: whether there is a session and a server that
// answers, since when, and how long the leases last. It sends nothing. It is zero for a client
// whose locks come from gateways.
func (c *Client) State() State {
	session := c.Session()
	if session == nil {
		return State{}
	}
	state, _ := session.Connection()
	return state
}

// readyFor is the part of a session timeout for which a client whose servers do not answer is ready all the same: leases
// survive outages of that length (package guides, "Choosing a session timeout").
const readyFor = 5

// whyClosed is ErrClosed, with the reason where servers have refused to go on with the session.
func (c *Client) whyClosed() error {
	if session := c.Session(); session != nil {
		if err := session.Err(); errors.Is(err, zkconn.ErrAuthFailed) {
			return fmt.Errorf("%w: %w", ErrClosed, err)
		}
	}
	return ErrClosed
}

// Ready tells whether the client can lock and keep locks: nil while a server answers, and for the first fifth of a
// session timeout of a silence (State.Silence). So a restart of a server, or a change of leader, does not make a program
// unready. Otherwise the error says for how long no server has answered, and why. It lasts until one answers, whatever
// becomes of the connection and of the session meanwhile. It wraps ErrClosed when the client is closed.
//
// It is an error, too, while servers answer, hang up on a request again and again, or put it off, and have carried out none
// since (State.Trouble). It asks nobody, and is for readiness probes. A program whose leader must be seen to be well asks
// Election.Health besides. Over a gateway the error wraps ErrNeedsSession: only asking one would tell.
func (c *Client) Ready() error {
	if c.Session() == nil {
		return fmt.Errorf("turnstile: ready: %w", ErrNeedsSession)
	}
	state := c.State()
	switch {
	case state.Phase != actors.Closed && state.Stuck:
		return fmt.Errorf("turnstile: not ready: %s", state.Trouble)
	case state.Phase == actors.Closed:
		return c.whyClosed()
	case state.Server != "" && state.Silence < state.Timeout/readyFor:
		return nil
	}
	err := fmt.Errorf("turnstile: not ready: no server answers for %v (%s", state.Silence.Round(time.Millisecond), state.Phase)
	if state.Cause != nil {
		return fmt.Errorf("%w; last cause: %v)", err, state.Cause)
	}
	return fmt.Errorf("%w)", err)
}
