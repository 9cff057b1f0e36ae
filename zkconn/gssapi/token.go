package gssapi

import (
	"bytes"
	"crypto/hmac"
	"crypto/rand"
	"encoding/asn1"
	"encoding/binary"
	"errors"
	"fmt"

	"github.com/jcmturner/gokrb5/v8/asn1tools"
	"github.com/jcmturner/gokrb5/v8/crypto"
	"github.com/jcmturner/gokrb5/v8/iana/chksumtype"
	"github.com/jcmturner/gokrb5/v8/iana/errorcode"
	"github.com/jcmturner/gokrb5/v8/iana/flags"
	"github.com/jcmturner/gokrb5/v8/iana/keyusage"
	"github.com/jcmturner/gokrb5/v8/messages"
	"github.com/jcmturner/gokrb5/v8/types"
)

// krb5OID is the mechanism of RFC 4121, 1.2.840.113554.1.2.2, in DER.
var krb5OID = []byte{0x06, 0x09, 0x2a, 0x86, 0x48, 0x86, 0xf7, 0x12, 0x01, 0x02, 0x02}

// The kinds of tokens that establish a context (RFC 4121, 4.1).
var (
	tokenRequest = [2]byte{0x01, 0x00} // KRB_AP_REQ
	tokenReply   = [2]byte{0x02, 0x00} // KRB_AP_REP
	tokenError   = [2]byte{0x03, 0x00} // KRB_ERROR
)

// The flags of a context that are asked for (RFC 4121, 4.1.1.1).
const (
	flagMutual    = 0x02
	flagIntegrity = 0x20 // the tokens that negotiate the security layer are signed
)

// apRequest makes the first token, and gives its authenticator, which the server's answer must
// repeat.
func (k *kdcs) apRequest(ticket *credential) ([]byte, *types.Authenticator, error) {
	authenticator, err := k.authenticator(ticket.client)
	if err != nil {
		return nil, nil, err
	}
	authenticator.SubKey = anotherKey(ticket.key)
	authenticator.Cksum = types.Checksum{CksumType: chksumtype.GSSAPI, Checksum: contextFlags(flagMutual | flagIntegrity)}
	request, err := messages.NewAPReq(ticket.ticket, ticket.key, authenticator)
	if err != nil {
		return nil, nil, err
	}
	types.SetFlag(&request.APOptions, flags.APOptionMutualRequired)
	b, err := request.Marshal()
	if err != nil {
		return nil, nil, err
	}
	return frameToken(tokenRequest, b), &authenticator, nil
}

// anotherKey is a random key of the same type. The library would make it too short for AES-256 with
// SHA-2.
func anotherKey(like types.EncryptionKey) types.EncryptionKey {
	key := types.EncryptionKey{KeyType: like.KeyType, KeyValue: make([]byte, len(like.KeyValue))}
	_, _ = rand.Read(key.KeyValue) // never fails
	return key
}

// contextFlags is the "checksum" of the authenticator: the length of the channel bindings, the
// empty bindings, and the flags (RFC 4121, 4.1.1).
func contextFlags(flags uint32) []byte {
	sum := binary.LittleEndian.AppendUint32(nil, 16)
	sum = append(sum, make([]byte, 16)...)
	return binary.LittleEndian.AppendUint32(sum, flags)
}

// frameToken frames a token that establishes a context (RFC 2743, 3.1).
func frameToken(kind [2]byte, body []byte) []byte {
	return asn1tools.AddASNAppTag(append(append(append([]byte{}, krb5OID...), kind[:]...), body...), 0)
}

// openToken takes a token that establishes a context out of its frame.
func openToken(token []byte) (kind [2]byte, body []byte, err error) {
	var frame asn1.RawValue
	rest, err := asn1.Unmarshal(token, &frame)
	switch {
	case err != nil || len(rest) > 0 || frame.Class != asn1.ClassApplication || frame.Tag != 0 || !frame.IsCompound:
		return kind, nil, errors.New("not a GSS-API token")
	case !bytes.HasPrefix(frame.Bytes, krb5OID):
		return kind, nil, errors.New("a token of another mechanism than Kerberos")
	}
	body = frame.Bytes[len(krb5OID):]
	if len(body) < len(kind) {
		return kind, nil, errors.New("a token without a kind")
	}
	return [2]byte(body), body[len(kind):], nil
}

// readReply checks the server's answer to our request: only a server that can read the ticket can
// encrypt the time of the authenticator with the session key.
func (k *kdcs) readReply(token []byte, ticket *credential, sent *types.Authenticator) (*messages.EncAPRepPart, error) {
	kind, body, err := openToken(token)
	switch {
	case err != nil && bytes.Contains(token, []byte("nonce=")):
		return nil, failure(ErrUnsupported, "the server speaks DIGEST-MD5: its JAAS file has no Krb5LoginModule")
	case err != nil:
		return nil, because(ErrProtocol, err, "the server's")
	}
	switch kind {
	case tokenReply:
	case tokenError:
		return nil, k.readError(body)
	default:
		return nil, failure(ErrProtocol, "the server sent a token of kind %x, for which it was not the time", kind)
	}
	var proof messages.EncAPRepPart
	err = parse(func() error {
		var reply messages.APRep
		if err := reply.Unmarshal(body); err != nil {
			return err
		}
		plain, err := crypto.DecryptEncPart(reply.EncPart, ticket.key, keyusage.AP_REP_ENCPART)
		if err != nil {
			return errors.New("it is not encrypted with the ticket's key: this is not the server whose ticket we have")
		}
		return proof.Unmarshal(plain)
	})
	switch {
	case err != nil:
		return nil, because(ErrProtocol, err, "the server's proof")
	case !proof.CTime.Equal(sent.CTime) || proof.Cusec != sent.Cusec:
		return nil, failure(ErrProtocol, "the server's proof is one for another request")
	case len(proof.Subkey.KeyValue) > 0 && !supported(proof.Subkey.KeyType):
		return nil, failure(ErrUnsupported, "the server wants a key of %s", typeName(proof.Subkey.KeyType))
	}
	return &proof, nil
}

// readError says why a server refuses our request. Java's servers do not say it.
func (k *kdcs) readError(body []byte) error {
	var refused refusal
	if err := parse(func() error { return refused.Unmarshal(body) }); err != nil {
		return because(ErrProtocol, err, "the server's refusal")
	}
	switch refused.ErrorCode {
	case errorcode.KRB_AP_ERR_SKEW, errorcode.KRB_AP_ERR_TKT_NYV:
		return because(ErrClockSkew, &refused, "it is %s here and %s at the server", clock(k.now()), clock(refused.STime))
	case errorcode.KRB_AP_ERR_TKT_EXPIRED:
		return because(ErrTicketExpired, &refused, "says the server, where it is %s", clock(refused.STime))
	}
	return because(ErrRefused, &refused, "by the server")
}

// A token that is signed (RFC 4121, 4.2.6.2): a header of 16 bytes, the text, and a checksum over
// the text and the header. The part behind the header may be rotated.
//
//	05 04   flags   ff   length of the checksum (2)   right rotation (2)   sequence number (8)
const wrapHeader = 16

const (
	wrapFromAcceptor   = 0x01
	wrapSealed         = 0x02
	wrapAcceptorSubkey = 0x04
)

// security is an established context.
type security struct {
	key            types.EncryptionKey
	acceptorSubkey bool
	sent, received uint32 // sequence numbers of the next messages
}

// secured is the context that a request and its reply establish: the server's key if it chose one,
// or else ours (RFC 4121, 2).
func secured(sent *types.Authenticator, proof *messages.EncAPRepPart) *security {
	s := &security{key: sent.SubKey, sent: uint32(sent.SeqNumber), received: uint32(proof.SequenceNumber)}
	if len(proof.Subkey.KeyValue) > 0 {
		s.key, s.acceptorSubkey = proof.Subkey, true
	}
	return s
}

// unwrap checks a token of the server's and gives its text.
func (s *security) unwrap(token []byte) ([]byte, error) {
	if len(token) < wrapHeader || token[0] != 0x05 || token[1] != 0x04 || token[3] != 0xff {
		return nil, errors.New("not a signed token of RFC 4121")
	}
	flags, body := token[2], token[wrapHeader:]
	switch {
	case flags&wrapFromAcceptor == 0:
		return nil, errors.New("a token that a client has signed")
	case flags&wrapSealed != 0:
		return nil, errors.New("a token that is encrypted, where one that is signed was due")
	case (flags&wrapAcceptorSubkey != 0) != s.acceptorSubkey:
		return nil, errors.New("a token that is signed with another key")
	}
	length := int(binary.BigEndian.Uint16(token[4:]))
	if length > len(body) {
		return nil, fmt.Errorf("a token with a checksum of %d bytes in %d", length, len(body))
	}
	if by := int(binary.BigEndian.Uint16(token[6:])); by > 0 && len(body) > 0 {
		by %= len(body)
		body = append(append([]byte{}, body[by:]...), body[:by]...)
	}
	text, sum := body[:len(body)-length], body[len(body)-length:]
	number := binary.BigEndian.Uint64(token[8:])
	want, err := s.sum(text, flags, number, keyusage.GSSAPI_ACCEPTOR_SEAL)
	switch {
	case err != nil:
		return nil, err
	case !hmac.Equal(sum, want):
		return nil, errors.New("a token whose checksum is wrong")
	case number != uint64(s.received):
		return nil, errors.New("a token out of order")
	}
	s.received++
	return text, nil
}

// wrap signs a text of ours.
func (s *security) wrap(text []byte) ([]byte, error) {
	flags, number := byte(0), uint64(s.sent)
	if s.acceptorSubkey {
		flags |= wrapAcceptorSubkey
	}
	sum, err := s.sum(text, flags, number, keyusage.GSSAPI_INITIATOR_SEAL)
	if err != nil {
		return nil, err
	}
	s.sent++
	token := []byte{0x05, 0x04, flags, 0xff}
	token = binary.BigEndian.AppendUint16(token, uint16(len(sum)))
	token = binary.BigEndian.AppendUint16(token, 0)
	token = binary.BigEndian.AppendUint64(token, number)
	return append(append(token, text...), sum...), nil
}

// sum is the checksum of a text with the header, in which the two lengths are nought.
func (s *security) sum(text []byte, flags byte, number uint64, usage uint32) ([]byte, error) {
	enctype, err := crypto.GetEtype(s.key.KeyType)
	if err != nil {
		return nil, err
	}
	signed := append(append([]byte{}, text...), 0x05, 0x04, flags, 0xff, 0, 0, 0, 0)
	return enctype.GetChecksumHash(s.key.KeyValue, binary.BigEndian.AppendUint64(signed, number), usage)
}
