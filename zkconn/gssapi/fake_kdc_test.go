package gssapi

import (
	"encoding/binary"
	"io"
	"net"
	"sync"
	"testing"
	"time"

	"github.com/jcmturner/gokrb5/v8/crypto"
	"github.com/jcmturner/gokrb5/v8/iana"
	"github.com/jcmturner/gokrb5/v8/iana/errorcode"
	"github.com/jcmturner/gokrb5/v8/iana/keyusage"
	"github.com/jcmturner/gokrb5/v8/iana/msgtype"
	"github.com/jcmturner/gokrb5/v8/keytab"
	"github.com/jcmturner/gokrb5/v8/messages"
	"github.com/jcmturner/gokrb5/v8/types"
	"github.com/stretchr/testify/require"
)

// fakeKDC is a KDC of alice's realm that can be made to answer wrongly. Real ones are in tests/kerberos.
type fakeKDC struct {
	t        *testing.T
	listener net.Listener
	served   chan struct{}
	key      types.EncryptionKey // alice's
	session  types.EncryptionKey // of all tickets

	mu    sync.Mutex // guards what follows
	knows []string   // the services, without the realm
	// alter changes what stands in a ticket outside its sealed part, on the way to the client.
	alter func(*messages.Ticket)
}

// newFakeKDC gives a KDC, and a mechanism that is alice there.
func newFakeKDC(t *testing.T, knows ...string) (*fakeKDC, *Mechanism) {
	t.Helper()
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	require.NoError(t, err)
	tab := keytab.New()
	addKey(t, tab, alice, "a", 1, anAES)
	k := &fakeKDC{t: t, listener: listener, served: make(chan struct{}), key: tab.Entries[0].Key,
		session: newKey(t, anAES), knows: knows}
	go k.serve()
	t.Cleanup(func() {
		_ = listener.Close()
		<-k.served
	})
	path, _ := writeKeytab(t, tab)
	m, err := New(WithKeytab(path, ""), WithConfig(writeFile(t, "krb5.conf", "[libdefaults]\n"+
		" default_realm = EXAMPLE.COM\n udp_preference_limit = 1\n"+
		"[realms]\n EXAMPLE.COM = {\n  kdc = "+listener.Addr().String()+"\n }\n")))
	require.NoError(t, err)
	return k, m
}

func (k *fakeKDC) serve() {
	defer close(k.served)
	for {
		conn, err := k.listener.Accept()
		if err != nil {
			return
		}
		var head [4]byte
		if _, err := io.ReadFull(conn, head[:]); err == nil {
			request := make([]byte, binary.BigEndian.Uint32(head[:]))
			if _, err := io.ReadFull(conn, request); err == nil {
				reply := k.answer(request)
				_, _ = conn.Write(append(binary.BigEndian.AppendUint32(nil, uint32(len(reply))), reply...))
			}
		}
		_ = conn.Close()
	}
}

func (k *fakeKDC) set(change func()) {
	k.mu.Lock()
	defer k.mu.Unlock()
	change()
}

func (k *fakeKDC) answer(request []byte) []byte {
	k.mu.Lock()
	defer k.mu.Unlock()
	var as messages.ASReq
	if as.Unmarshal(request) == nil {
		fields := k.reply(as.ReqBody, msgtype.KRB_AS_REP, k.key, keyusage.AS_REP_ENCPART)
		return k.must((&messages.ASRep{KDCRepFields: fields}).Marshal())
	}
	var tgs messages.TGSReq
	if err := tgs.Unmarshal(request); err != nil {
		k.t.Error(err)
		return nil
	}
	for _, service := range k.knows {
		if tgs.ReqBody.SName.PrincipalNameString() == service {
			fields := k.reply(tgs.ReqBody, msgtype.KRB_TGS_REP, k.session, keyusage.TGS_REP_ENCPART_SESSION_KEY)
			fields.CName, fields.CRealm = alice.name, alice.realm
			return k.must((&messages.TGSRep{KDCRepFields: fields}).Marshal())
		}
	}
	unknown := messages.NewKRBError(tgs.ReqBody.SName, alice.realm, errorcode.KDC_ERR_S_PRINCIPAL_UNKNOWN, "")
	return k.must(unknown.Marshal())
}

// reply grants what is asked for, for an hour.
func (k *fakeKDC) reply(
	asked messages.KDCReqBody, kind int, key types.EncryptionKey, usage uint32,
) messages.KDCRepFields {
	now := time.Now().UTC().Truncate(time.Second)
	part := messages.EncKDCRepPart{Key: k.session, Nonce: asked.Nonce, Flags: types.NewKrbFlags(), AuthTime: now,
		EndTime: now.Add(time.Hour), SRealm: alice.realm, SName: asked.SName}
	sealed, err := crypto.GetEncryptedData(k.must(part.Marshal()), key, usage, 1)
	if err != nil {
		k.t.Error(err)
	}
	ticket := messages.Ticket{TktVNO: iana.PVNO, Realm: alice.realm, SName: asked.SName,
		EncPart: types.EncryptedData{EType: anAES, KVNO: 1, Cipher: []byte("sealed for the server")}}
	if k.alter != nil {
		k.alter(&ticket)
	}
	return messages.KDCRepFields{PVNO: iana.PVNO, MsgType: kind, CRealm: alice.realm, CName: asked.CName, Ticket: ticket,
		EncPart: sealed}
}

func (k *fakeKDC) must(b []byte, err error) []byte {
	if err != nil {
		k.t.Error(err)
	}
	return b
}
