package digestmd5

import (
	"context"
	"crypto/subtle"
	"errors"
	"fmt"

	"github.com/turnstile-locks/turnstile/zkconn"
)

// phase is the phase of an exchange.
type phase int

const (
	fresh     phase = iota // nothing was said
	responded              // the challenge was answered; the server's proof is due
	satisfied              // the server has shown that it knows the password
	failed                 // for good
)

// exchange is one exchange. The server speaks first; two steps follow: challenge and response, and
// the server's proof.
type exchange struct {
	mechanism *Mechanism
	phase     phase
	proof     string // that the server must give
}

// Start begins an exchange. It sends nothing, and never fails.
func (m *Mechanism) Start(context.Context, zkconn.SASLServer) (zkconn.SASLExchange, error) {
	return &exchange{mechanism: m}, nil
}

// Initial gives the empty token: the server speaks first.
func (*exchange) Initial() ([]byte, error) { return nil, nil }

// Done reports whether the server has proved that it knows the password.
func (e *exchange) Done() bool { return e.phase == satisfied }

// Step answers the challenge, and then verifies the server's proof.
func (e *exchange) Step(from []byte) (answer []byte, err error) {
	switch e.phase {
	case fresh:
		answer, err = e.respond(from)
	case responded:
		err = e.verify(from)
	default:
		err = errors.New("the exchange is over, and the server goes on")
	}
	if err != nil {
		e.phase = failed
		return nil, err
	}
	e.phase++
	return answer, nil
}

func (e *exchange) respond(from []byte) ([]byte, error) {
	c, err := parseChallenge(from)
	if err != nil {
		return nil, fmt.Errorf("challenge: %w", err)
	}
	m := e.mechanism
	realm, err := c.realm(m.realm)
	if err != nil {
		return nil, err
	}
	r := response{
		challenge: c, user: m.user, realm: realm, cnonce: m.cnonce(), uri: m.service + "/" + m.host, password: m.password,
	}
	answer, err := r.encode()
	if err != nil {
		return nil, err
	}
	e.proof = r.digest(":")
	return answer, nil
}

func (e *exchange) verify(from []byte) error {
	if len(from) == 0 {
		return errors.New("the server does not prove that it knows the password: it has refused the credential and lets " +
			"the client stay (zookeeper.allowSaslFailedClients), or it is another server than it says")
	}
	pairs, err := parse(from)
	if err != nil {
		return fmt.Errorf("the server's proof: %w", err)
	}
	proof, err := pairs.only("rspauth")
	if err != nil {
		return fmt.Errorf("the server's proof: %w", err)
	}
	if subtle.ConstantTimeCompare([]byte(proof), []byte(e.proof)) != 1 {
		return errors.New("the server's proof is wrong: it does not know the password")
	}
	return nil
}
