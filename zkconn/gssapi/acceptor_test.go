package gssapi

import (
	"encoding/binary"
	"testing"
	"time"

	"github.com/jcmturner/gofork/encoding/asn1"
	"github.com/jcmturner/gokrb5/v8/asn1tools"
	"github.com/jcmturner/gokrb5/v8/config"
	"github.com/jcmturner/gokrb5/v8/crypto"
	"github.com/jcmturner/gokrb5/v8/iana"
	"github.com/jcmturner/gokrb5/v8/iana/asnAppTag"
	"github.com/jcmturner/gokrb5/v8/iana/etypeID"
	"github.com/jcmturner/gokrb5/v8/iana/keyusage"
	"github.com/jcmturner/gokrb5/v8/iana/msgtype"
	"github.com/jcmturner/gokrb5/v8/messages"
	"github.com/jcmturner/gokrb5/v8/types"
	"github.com/stretchr/testify/require"
)

// acceptor is a server's side that can be made to answer anything. Real servers are in tests/kerberos.
type acceptor struct {
	t       testing.TB
	session types.EncryptionKey
	request messages.APReq
	subkey  types.EncryptionKey // its own; empty: it takes the client's
	number  uint32
}

var (
	alice     = parsePrincipal("alice@EXAMPLE.COM")
	zookeeper = parsePrincipal("zookeeper/zk1.example.com@EXAMPLE.COM")
)

// newPair makes an exchange with a ticket, and the server that can read it.
func newPair(t testing.TB, enctype int32) (*exchange, *acceptor) {
	t.Helper()
	now := time.Now()
	// Only a server with a keytab reads the ticket's content. This acceptor knows it already.
	ticket := messages.Ticket{TktVNO: iana.PVNO, Realm: zookeeper.realm, SName: zookeeper.name,
		EncPart: types.EncryptedData{EType: enctype, KVNO: 1, Cipher: []byte("sealed for the server")}}
	session := newKey(t, enctype)
	credential := &credential{client: alice, ticket: ticket, key: session, start: now, end: now.Add(time.Hour)}
	cfg := config.New()
	cfg.LibDefaults.DefaultRealm = alice.realm
	held := &heldTicket{credential: credential, service: zookeeper}
	return newExchange(held, newKDCs(cfg, time.Now)), &acceptor{t: t, session: session, number: 77}
}

// accept reads the client's request.
func (a *acceptor) accept(token []byte) {
	a.t.Helper()
	kind, body, err := openToken(token)
	require.NoError(a.t, err)
	require.Equal(a.t, tokenRequest, kind)
	require.NoError(a.t, a.request.Unmarshal(body))
	require.NoError(a.t, a.request.DecryptAuthenticator(a.session))
}

// proof is the answer to the request.
func (a *acceptor) proof() messages.EncAPRepPart {
	return messages.EncAPRepPart{
		CTime: a.request.Authenticator.CTime, Cusec: a.request.Authenticator.Cusec,
		Subkey: a.subkey, SequenceNumber: int64(a.number),
	}
}

// seal makes a token of a proof, encrypted with a key.
func (a *acceptor) seal(proof messages.EncAPRepPart, key types.EncryptionKey) []byte {
	a.t.Helper()
	plain, err := asn1.Marshal(proof)
	require.NoError(a.t, err)
	plain = asn1tools.AddASNAppTag(plain, asnAppTag.EncAPRepPart)
	sealed, err := crypto.GetEncryptedData(plain, key, keyusage.AP_REP_ENCPART, 0)
	require.NoError(a.t, err)
	reply, err := asn1.Marshal(messages.APRep{PVNO: iana.PVNO, MsgType: msgtype.KRB_AP_REP, EncPart: sealed})
	require.NoError(a.t, err)
	return frameToken(tokenReply, asn1tools.AddASNAppTag(reply, asnAppTag.APREP))
}

// sign makes a signed token: from is a flag that says of whom.
func (a *acceptor) sign(text []byte, flags byte, number uint32, usage uint32) []byte {
	a.t.Helper()
	key := a.request.Authenticator.SubKey
	if len(a.subkey.KeyValue) > 0 {
		key = a.subkey
	}
	s := security{key: key}
	sum, err := s.sum(text, flags, uint64(number), usage)
	require.NoError(a.t, err)
	token := binary.BigEndian.AppendUint16([]byte{5, 4, flags, 0xff}, uint16(len(sum)))
	token = binary.BigEndian.AppendUint16(token, 0)
	token = binary.BigEndian.AppendUint64(token, uint64(number))
	return append(append(token, text...), sum...)
}

// offer is the server's message about security layers.
func (a *acceptor) offer(layers byte) []byte {
	flags := byte(wrapFromAcceptor)
	if len(a.subkey.KeyValue) > 0 {
		flags |= wrapAcceptorSubkey
	}
	return a.sign([]byte{layers, 0, 0, 0}, flags, a.number, keyusage.GSSAPI_ACCEPTOR_SEAL)
}

func newKey(t testing.TB, enctype int32) types.EncryptionKey {
	t.Helper()
	e, err := crypto.GetEtype(enctype)
	require.NoError(t, err)
	size := e.GetKeyByteSize()
	if enctype == etypeID.AES256_CTS_HMAC_SHA384_192 {
		size = 32 // the library has the size of a checksum's key
	}
	return anotherKey(types.EncryptionKey{KeyType: enctype, KeyValue: make([]byte, size)})
}

const anAES = etypeID.AES256_CTS_HMAC_SHA1_96

func (x *exchange) done() bool { return opaque{func() *exchange { return x }}.Done() }
