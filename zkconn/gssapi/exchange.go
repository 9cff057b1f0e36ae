package gssapi

import (
	"encoding/binary"

	"github.com/jcmturner/gokrb5/v8/types"
)

// phase is the phase of an exchange, by the call or the token that it waits for.
type phase int

const (
	// notBegun: for Initial.
	notBegun phase = iota
	// awaitingProof: for the server's answer to our request, the AP-REP.
	awaitingProof
	// awaitingOffer: for the security layers that the server offers, signed. Invariant: the server has proved who it is.
	awaitingOffer
	// answered: for nothing. Invariant: our choice of a layer has been given out.
	answered
	// failed: for nothing any more.
	failed
)

// The security layers of RFC 4752, 3.3, as bits.
const (
	layerNone            = 1
	layerIntegrity       = 2
	layerConfidentiality = 4
)

// exchange is the client's side of one exchange (RFC 4752, 3.1).
type exchange struct {
	ticket *heldTicket
	kdcs   *kdcs
	forget func() // drops the looked-up names of servers, one of which may be wrong; nil where names are not looked up

	phase    phase
	sent     *types.Authenticator
	security *security
}

func newExchange(ticket *heldTicket, kdcs *kdcs) *exchange {
	return &exchange{ticket: ticket, kdcs: kdcs}
}

// initial gives the request, with the ticket.
func (x *exchange) initial() ([]byte, error) {
	if x.phase != notBegun {
		return nil, x.fail(failure(ErrProtocol, "the exchange has begun already"))
	}
	token, sent, err := x.kdcs.apRequest(x.ticket.credential)
	if err != nil {
		return nil, x.fail(because(ErrUnsupported, err, "request to the server"))
	}
	x.phase, x.sent = awaitingProof, sent
	return token, nil
}

// step takes the server's proof, and then its offer of security layers.
func (x *exchange) step(challenge []byte) ([]byte, error) {
	switch x.phase {
	case awaitingProof:
		proof, err := x.kdcs.readReply(challenge, x.ticket.credential, x.sent)
		if err != nil {
			return nil, x.fail(err)
		}
		x.ticket.refused.Store(false)
		x.security = secured(x.sent, proof)
		x.phase = awaitingOffer
		return []byte{}, nil
	case awaitingOffer:
		answer, err := x.choose(challenge)
		if err != nil {
			return nil, x.fail(err)
		}
		x.phase = answered
		return answer, nil
	}
	return nil, x.fail(failure(ErrProtocol, "the server sent a token of %d bytes where none was due", len(challenge)))
}

// choose declines the security layers, and signs that choice.
func (x *exchange) choose(offer []byte) ([]byte, error) {
	text, err := x.security.unwrap(offer)
	switch {
	case err != nil:
		return nil, because(ErrProtocol, err, "the server's offer of security layers")
	case len(text) != 4:
		return nil, failure(ErrProtocol, "the server's offer of security layers has %d bytes and not 4", len(text))
	case text[0]&layerNone == 0:
		return nil, failure(ErrUnsupported,
			"the server demands a security layer (integrity %t, confidentiality %t), and this client has TLS alone",
			text[0]&layerIntegrity != 0, text[0]&layerConfidentiality != 0)
	}
	// The layer, and a buffer of no bytes; no authorization identity, which means our principal.
	answer, err := x.security.wrap(binary.BigEndian.AppendUint32(nil, layerNone<<24))
	if err != nil {
		return nil, because(ErrUnsupported, err, "answer to the server's offer")
	}
	return answer, nil
}

// fail ends the exchange.
func (x *exchange) fail(err error) error {
	x.phase = failed
	x.refuse()
	return named(err, x.ticket.client.String(), x.ticket.service.String())
}

// refuse marks the ticket as refused, so that another one is used if it is available, and has the
// servers' names looked up again.
func (x *exchange) refuse() {
	x.ticket.refused.Store(true)
	if x.forget != nil {
		x.forget()
	}
}
