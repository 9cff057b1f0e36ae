package gssapi

import (
	"crypto/hmac"
	"encoding/binary"
	"errors"
	"fmt"

	"github.com/jcmturner/gokrb5/v8/crypto"
	"github.com/jcmturner/gokrb5/v8/iana/keyusage"
	"github.com/jcmturner/gokrb5/v8/messages"
	"github.com/jcmturner/gokrb5/v8/types"
)

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
	sent, received uint32 // sequence numbers of what comes next
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
