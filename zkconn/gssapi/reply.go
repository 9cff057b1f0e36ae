package gssapi

import (
	"bytes"
	"encoding/asn1"
	"errors"

	"github.com/jcmturner/gokrb5/v8/crypto"
	"github.com/jcmturner/gokrb5/v8/iana/errorcode"
	"github.com/jcmturner/gokrb5/v8/iana/keyusage"
	"github.com/jcmturner/gokrb5/v8/messages"
	"github.com/jcmturner/gokrb5/v8/types"
)

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

// readReply checks the server's answer to our request: only who can read the ticket can encrypt
// the time of the authenticator with the session key.
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
