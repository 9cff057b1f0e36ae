package zkconn

import (
	"bufio"
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
)

// SASLMechanism makes the client's side of SASL exchanges, one for each connection, on one
// goroutine of a Conn; several Conns may share it. See packages digestmd5 and gssapi.
type SASLMechanism interface {
	// Name is the mechanism as the server knows it: "DIGEST-MD5", "GSSAPI".
	Name() string
	// Principal names the identity that it authenticates as, for errors and logs; never a secret.
	Principal() string
	// Start begins an exchange, before the server is asked for a session. ctx bounds what it needs
	// from others, such as tickets, and ends when the Conn is closed: Close waits for Start. An
	// error that wraps ErrAuthFailed is final (see WithSASL). Any other may pass.
	Start(ctx context.Context, server SASLServer) (SASLExchange, error)
}

// SASLServer is the server that an exchange is with.
type SASLServer struct {
	// Host is the name or address as configured, without a port.
	Host string
	// Address is host:port as it was dialled: the name may have been resolved.
	Address string
}

// SASLExchange is the client's side of one exchange: Initial, then Step for each answer of the
// server. Each token goes out as one request, an empty one too. If it has a method Refused(), that
// is called when the answer is an error, and ends it.
type SASLExchange interface {
	// Initial gives the first token; empty where the server speaks first. It is called right after
	// Start; its errors count as those of Start.
	Initial() ([]byte, error)
	// Step answers a challenge, which may be empty, with a token, which may be empty. An error ends
	// the exchange and is final.
	Step(challenge []byte) ([]byte, error)
	// Done reports whether the client is satisfied with the answers and, where the mechanism has
	// one, the server's proof of its identity. The last token of Step, unless empty, is still sent,
	// and the server must accept it.
	Done() bool
}

// One SASL exchange (ZooKeeperServer.processSasl, 3.8.0; every number big-endian):
//
//	request   int xid, int type = 102 (sasl), buffer token
//	reply     int xid, long zxid = 0, int err, buffer token
//
// A buffer is its length and that many bytes. The length -1 is null, the answer of a server that
// has accepted GSSAPI's last token, has no SASL, or lets refused clients stay
// (zookeeper.allowSaslFailedClients). One that refuses answers with an error and hangs up.

const (
	opSASL  = 102
	xidSASL = -102 // the library counts up from 1
	// maxSASLReply bounds a server's reply to a token, in bytes: a Kerberos token with all its
	// groups has less than 64 KiB.
	maxSASLReply = 1 << 17
	// maxSASLTurns bounds the requests of one exchange: DIGEST-MD5 takes two, GSSAPI three.
	maxSASLTurns = 16
)

type saslClient struct {
	mechanism SASLMechanism
	exchange  SASLExchange
	first     []byte
}

func startSASL(ctx context.Context, m SASLMechanism, server SASLServer) (_ *saslClient, err error) {
	defer recovered(&err, errSASLPanicked)
	exchange, err := m.Start(ctx, server)
	if err == nil && exchange == nil {
		err = errors.New("the mechanism began no exchange")
	}
	if err != nil {
		return nil, saslFailed(m, err)
	}
	first, err := exchange.Initial()
	if err != nil {
		return nil, saslFailed(m, err)
	}
	return &saslClient{m, exchange, first}, nil
}

// run makes the exchange. The deadlines are the caller's.
func (s *saslClient) run(to io.Writer, from *bufio.Reader) (err error) {
	defer recovered(&err, errSASLPanicked)
	token := s.first
	for turn := range maxSASLTurns {
		challenge, code, err := askSASL(to, from, token)
		switch {
		case err != nil:
			return saslFailed(s.mechanism, err)
		case code != 0:
			if told, wants := s.exchange.(interface{ Refused() }); wants {
				told.Refused()
			}
			return saslRefused(s.mechanism, saslRefusal(code))
		case s.exchange.Done():
			return nil // it has accepted the last token
		case challenge == nil && turn == 0:
			return saslRefused(s.mechanism, errNoSASL)
		}
		if token, err = s.exchange.Step(challenge); err != nil {
			return saslRefused(s.mechanism, err)
		}
		if s.exchange.Done() && len(token) == 0 {
			return nil
		}
	}
	return saslRefused(s.mechanism, fmt.Errorf("no end after %d requests", maxSASLTurns))
}

var errNoSASL = errors.New("the server has no SASL: it answers with nothing " +
	"(look at its java.security.auth.login.config, and at the section Server of that file)")

type saslRefusal int32

func (code saslRefusal) Error() string {
	switch code {
	case codeAuthFailed:
		return "the server said so (error -115, AuthFailed)"
	case codeSASLRequired:
		return "the server, which requires SASL, said so (error -124, SessionClosedRequireSaslAuth)"
	case codeUnimplemented:
		return "the server knows no SASL requests (error -6, Unimplemented)"
	}
	return fmt.Sprintf("the server answers with error %d", int32(code))
}

// doubtful reports whether a refusal may be the server's mistake: see WithSASL.
func doubtful(err error) bool {
	var code saslRefusal
	return errors.As(err, &code) && (code == codeAuthFailed || code == codeSASLRequired)
}

// askSASL sends a token and reads the answer; nil is null.
func askSASL(to io.Writer, from *bufio.Reader, token []byte) (challenge []byte, code int32, err error) {
	body := binary.BigEndian.AppendUint32(make([]byte, 0, 4+len(token)), uint32(len(token)))
	if _, err := to.Write(requestFrame(xidSASL, opSASL, append(body, token...))); err != nil {
		return nil, 0, err
	}
	reply, err := readReply(from, maxSASLReply)
	switch {
	case hungUp(err):
		return nil, 0, fmt.Errorf("the server hung up in the midst of the exchange: %w", err)
	case err != nil:
		return nil, 0, err
	}
	return parseSASLReply(reply)
}

func parseSASLReply(reply []byte) (challenge []byte, code int32, err error) {
	if len(reply) < replyHeaderSize {
		return nil, 0, fmt.Errorf("server sent a frame of %d bytes, a reply has at least %d", len(reply), replyHeaderSize)
	}
	if xid := int32(binary.BigEndian.Uint32(reply)); xid != xidSASL {
		return nil, 0, fmt.Errorf("server sent a reply to request %d in a SASL exchange", xid)
	}
	if code = int32(binary.BigEndian.Uint32(reply[replyHeaderSize-4:])); code != 0 {
		return nil, code, nil
	}
	body := reply[replyHeaderSize:]
	if len(body) < 4 {
		return nil, 0, fmt.Errorf("server sent a SASL reply of %d bytes", len(reply))
	}
	switch length, rest := int(int32(binary.BigEndian.Uint32(body))), body[4:]; {
	case length == -1:
		return nil, 0, nil
	case length < 0 || length > len(rest):
		return nil, 0, fmt.Errorf("server sent a SASL token of %d bytes in %d", length, len(rest))
	default:
		return rest[:length:length], 0, nil
	}
}

// saslRefused makes the error of an exchange that failed for good.
func saslRefused(m SASLMechanism, reason error) error {
	if errors.Is(reason, ErrAuthFailed) {
		return saslFailed(m, reason)
	}
	return fmt.Errorf("%w: %w", ErrAuthFailed, saslFailed(m, reason))
}

// saslFailed makes the error of an exchange that may succeed later.
func saslFailed(m SASLMechanism, cause error) error {
	return fmt.Errorf("SASL %s as %q: %w", m.Name(), m.Principal(), cause)
}
