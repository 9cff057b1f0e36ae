package gssapi

import (
	"crypto/rand"
	"encoding/binary"

	"github.com/jcmturner/gokrb5/v8/asn1tools"
	"github.com/jcmturner/gokrb5/v8/iana/chksumtype"
	"github.com/jcmturner/gokrb5/v8/iana/flags"
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

// apRequest makes the first token, and gives what proves the server's answer to be one to it.
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

// anotherKey is a random one of the same kind. The library would make it too short for AES-256 with SHA-2.
func anotherKey(like types.EncryptionKey) types.EncryptionKey {
	key := types.EncryptionKey{KeyType: like.KeyType, KeyValue: make([]byte, len(like.KeyValue))}
	_, _ = rand.Read(key.KeyValue) // never fails
	return key
}

// contextFlags is the "checksum" of the authenticator: the length of the channel bindings, which are
// none, and the flags (RFC 4121, 4.1.1).
func contextFlags(flags uint32) []byte {
	sum := binary.LittleEndian.AppendUint32(nil, 16)
	sum = append(sum, make([]byte, 16)...)
	return binary.LittleEndian.AppendUint32(sum, flags)
}

// frameToken frames a token that establishes a context (RFC 2743, 3.1).
func frameToken(kind [2]byte, body []byte) []byte {
	return asn1tools.AddASNAppTag(append(append(append([]byte{}, krb5OID...), kind[:]...), body...), 0)
}
