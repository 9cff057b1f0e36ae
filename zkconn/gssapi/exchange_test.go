package gssapi

import (
	"encoding/binary"
	"testing"
	"time"

	"github.com/jcmturner/gokrb5/v8/iana/errorcode"
	"github.com/jcmturner/gokrb5/v8/iana/etypeID"
	"github.com/jcmturner/gokrb5/v8/iana/flags"
	"github.com/jcmturner/gokrb5/v8/iana/keyusage"
	"github.com/jcmturner/gokrb5/v8/messages"
	"github.com/jcmturner/gokrb5/v8/types"
	"github.com/stretchr/testify/require"

	"github.com/turnstile-locks/turnstile/zkconn"
)

func TestExchange(t *testing.T) {
	for _, enctype := range supportedTypes {
		for _, own := range []bool{false, true} {
			t.Run(typeName(enctype)+map[bool]string{true: " key of the server's"}[own], func(t *testing.T) {
				x, server := newPair(t, enctype)
				if own {
					server.subkey = newKey(t, enctype)
				}
				first, err := x.initial()
				require.NoError(t, err)
				server.accept(first)
				asked := server.request
				require.True(t, types.IsFlagSet(&asked.APOptions, flags.APOptionMutualRequired))
				sum := append([]byte{16, 0, 0, 0}, append(make([]byte, 16), 0x22, 0, 0, 0)...)
				require.Equal(t, sum, asked.Authenticator.Cksum.Checksum)
				require.Equal(t, alice.name, asked.Authenticator.CName)

				answer, err := x.step(server.seal(server.proof(), server.session))
				require.NoError(t, err)
				require.Empty(t, answer)
				require.False(t, x.done())
				require.False(t, x.ticket.refused.Load())

				answer, err = x.step(server.offer(layerNone))
				require.NoError(t, err)
				require.True(t, x.done())
				want := server.sign([]byte{layerNone, 0, 0, 0}, map[bool]byte{true: wrapAcceptorSubkey}[own],
					uint32(asked.Authenticator.SeqNumber), keyusage.GSSAPI_INITIATOR_SEAL)
				require.Equal(t, want, answer)

				_, err = x.step([]byte("more"))
				require.ErrorIs(t, err, ErrProtocol)
				require.False(t, x.done())
			})
		}
	}
}

// Windows' servers rotate the part behind the header.
func TestRotatedToken(t *testing.T) {
	for _, by := range []int{1, 12, 15, 16, 17, 28, 65535} {
		x, server := newPair(t, anAES)
		server.begin(x)
		token := server.offer(layerNone | layerIntegrity)
		body := token[wrapHeader:]
		rotated := append(append([]byte{}, body[len(body)-by%len(body):]...), body[:len(body)-by%len(body)]...)
		copy(body, rotated)
		binary.BigEndian.PutUint16(token[6:], uint16(by))
		_, err := x.step(token)
		require.NoError(t, err, by)
	}
}

// begin takes an exchange to where the server offers layers.
func (a *acceptor) begin(x *exchange) {
	a.t.Helper()
	first, err := x.initial()
	require.NoError(a.t, err)
	a.accept(first)
	_, err = x.step(a.seal(a.proof(), a.session))
	require.NoError(a.t, err)
}

func TestBrokenProof(t *testing.T) {
	for name, make := range map[string]func(*acceptor) []byte{
		"nothing":                   func(*acceptor) []byte { return nil },
		"garbage":                   func(*acceptor) []byte { return []byte("garbage") },
		"our own request":           nil, // below
		"of somebody without a key": func(a *acceptor) []byte { return a.seal(a.proof(), newKey(a.t, anAES)) },
		"for another second": func(a *acceptor) []byte {
			p := a.proof()
			p.CTime = p.CTime.Add(time.Second)
			return a.seal(p, a.session)
		},
		"for another microsecond": func(a *acceptor) []byte {
			p := a.proof()
			p.Cusec = (p.Cusec + 1) % 1e6
			return a.seal(p, a.session)
		},
		"layers before the proof": func(a *acceptor) []byte { return a.offer(layerNone) },
		"cut off":                 func(a *acceptor) []byte { b := a.seal(a.proof(), a.session); return b[:len(b)-1] },
		"with something behind":   func(a *acceptor) []byte { return append(a.seal(a.proof(), a.session), 0) },
		"an error without text":   func(*acceptor) []byte { return frameToken(tokenError, []byte{1, 2, 3}) },
		"an empty proof":          func(*acceptor) []byte { return frameToken(tokenReply, nil) },
		"another mechanism":       func(*acceptor) []byte { return []byte{0x60, 4, 6, 2, 42, 3} },
		"a ciphertext too short": func(a *acceptor) []byte {
			return frameToken(tokenReply, []byte{0x6f, 0x19, 0x30, 0x17, 0xa0, 3, 2, 1, 5, 0xa1, 3, 2, 1, 15,
				0xa2, 0x0b, 0x30, 9, 0xa0, 3, 2, 1, 18, 0xa2, 2, 4, 0})
		},
	} {
		t.Run(name, func(t *testing.T) {
			x, server := newPair(t, anAES)
			first, err := x.initial()
			require.NoError(t, err)
			server.accept(first)
			token := first
			if make != nil {
				token = make(server)
			}
			requireFinal(t, x, token, ErrProtocol)
			require.True(t, x.ticket.refused.Load(), "the next connection must fetch a ticket anew")
		})
	}
}

func TestKeyOfTheServersThatIsWeak(t *testing.T) {
	x, server := newPair(t, anAES)
	server.subkey = newKey(t, etypeID.RC4_HMAC)
	first, err := x.initial()
	require.NoError(t, err)
	server.accept(first)
	requireFinal(t, x, server.seal(server.proof(), server.session), ErrUnsupported)
}

func TestBrokenOffer(t *testing.T) {
	text := []byte{layerNone, 0, 0, 0}
	const acceptors = keyusage.GSSAPI_ACCEPTOR_SEAL
	for name, make := range map[string]func(*acceptor) []byte{
		"nothing":     func(*acceptor) []byte { return nil },
		"unsigned":    func(*acceptor) []byte { return text },
		"of a client": func(a *acceptor) []byte { return a.sign(text, 0, a.number, acceptors) },
		"signed as a client": func(a *acceptor) []byte {
			return a.sign(text, wrapFromAcceptor, a.number, keyusage.GSSAPI_INITIATOR_SEAL)
		},
		"out of order": func(a *acceptor) []byte { return a.sign(text, wrapFromAcceptor, a.number+1, acceptors) },
		"another key": func(a *acceptor) []byte {
			a.subkey = newKey(a.t, anAES)
			return a.sign(text, wrapFromAcceptor, a.number, acceptors)
		},
		"a key that nobody chose": func(a *acceptor) []byte {
			return a.sign(text, wrapFromAcceptor|wrapAcceptorSubkey, a.number, acceptors)
		},
		"encrypted": func(a *acceptor) []byte {
			return a.sign(text, wrapFromAcceptor|wrapSealed, a.number, acceptors)
		},
		"too short": func(a *acceptor) []byte { return a.sign(text[:3], wrapFromAcceptor, a.number, acceptors) },
		"too long": func(a *acceptor) []byte {
			return a.sign(append(text, 0), wrapFromAcceptor, a.number, acceptors)
		},
		"changed on the way": func(a *acceptor) []byte { b := a.offer(layerNone); b[wrapHeader] = 7; return b },
		"header alone":       func(a *acceptor) []byte { return a.offer(layerNone)[:wrapHeader] },
		"nothing, rotated": func(a *acceptor) []byte {
			b := a.offer(layerNone)
			b[4], b[5], b[7] = 0, 0, 1
			return b[:wrapHeader]
		},
		"a checksum of no bytes": func(a *acceptor) []byte {
			b := a.offer(layerNone)
			b[4], b[5] = 0, 0
			return b[:wrapHeader+4]
		},
	} {
		t.Run(name, func(t *testing.T) {
			x, server := newPair(t, anAES)
			server.begin(x)
			requireFinal(t, x, make(server), ErrProtocol)
		})
	}
}

func TestServerThatDemandsASecurityLayer(t *testing.T) {
	x, server := newPair(t, anAES)
	server.begin(x)
	requireFinal(t, x, server.offer(layerIntegrity|layerConfidentiality), ErrUnsupported)
}

// Servers of MIT's library say why they refuse; Java's do not.
func TestRefusalOfAServer(t *testing.T) {
	for code, want := range map[int32]error{
		errorcode.KRB_AP_ERR_SKEW:        ErrClockSkew,
		errorcode.KRB_AP_ERR_TKT_EXPIRED: ErrTicketExpired,
		errorcode.KRB_AP_ERR_MODIFIED:    ErrRefused,
	} {
		x, _ := newPair(t, anAES)
		_, err := x.initial()
		require.NoError(t, err)
		said := messages.NewKRBError(zookeeper.name, zookeeper.realm, code, "so it is")
		body, err := said.Marshal()
		require.NoError(t, err)
		err = requireFinal(t, x, frameToken(tokenError, body), want)
		require.ErrorContains(t, err, "so it is")
	}
}

// requireFinal has the exchange fail for good at a token, in words that name the server and no secret.
func requireFinal(t *testing.T, x *exchange, token []byte, kind error) error {
	t.Helper()
	_, err := x.step(token)
	require.ErrorIs(t, err, kind)
	require.ErrorIs(t, err, zkconn.ErrAuthFailed)
	require.ErrorContains(t, err, zookeeper.String())
	var e *Error
	require.ErrorAs(t, err, &e)
	require.False(t, e.Temporary())
	require.Equal(t, alice.String(), e.Principal)
	require.False(t, x.done())
	_, again := x.step(token)
	require.ErrorIs(t, again, ErrProtocol)
	return err
}
