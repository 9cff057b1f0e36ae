package gssapi

import (
	"errors"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/jcmturner/gokrb5/v8/iana/errorcode"
	"github.com/jcmturner/gokrb5/v8/keytab"
	"github.com/jcmturner/gokrb5/v8/messages"
	"github.com/stretchr/testify/require"
)

// FuzzStep has a server say anything, before and after it has proved who it is. No token may panic,
// nor pass for a proof: the fuzzer has no key.
func FuzzStep(f *testing.F) {
	x, server := newPair(f, anAES)
	first, err := x.initial()
	require.NoError(f, err)
	server.accept(first)
	said := messages.NewKRBError(zookeeper.name, zookeeper.realm, errorcode.KRB_AP_ERR_SKEW, "so it is")
	refusal, err := said.Marshal()
	require.NoError(f, err)
	for _, token := range [][]byte{nil, first, server.seal(server.proof(), server.session), server.offer(layerNone),
		frameToken(tokenError, refusal), frameToken(tokenReply, nil), {5, 4, 1, 0xff, 0, 12, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0}} {
		f.Add(token, false)
		f.Add(token, true)
	}
	f.Fuzz(func(t *testing.T, token []byte, proved bool) {
		x, server := newPair(t, anAES)
		if proved {
			server.begin(x)
		} else if _, err := x.initial(); err != nil {
			t.Fatal(err)
		}
		if _, err := x.step(token); err == nil || x.done() {
			t.Fatalf("took %x", token)
		}
	})
}

// FuzzKDC has a KDC answer anything to each of our requests.
func FuzzKDC(f *testing.F) {
	x, _ := newPair(f, anAES)
	k := keytab.New()
	addKey(f, k, alice, "a", 1, anAES)
	said := messages.NewKRBError(zookeeper.name, zookeeper.realm, errorcode.KDC_ERR_PREAUTH_REQUIRED, "")
	said.EData = []byte{0x30, 0x0f, 0x30, 0x0d, 0xa1, 3, 2, 1, 19, 0xa2, 6, 4, 4, 0x30, 2, 0x30, 0}
	refused, err := said.Marshal()
	require.NoError(f, err)
	f.Add(refused)
	f.Add([]byte{0x6b, 0x02, 0x30, 0x00})
	f.Add([]byte{0x6d, 0x02, 0x30, 0x00})
	f.Fuzz(func(t *testing.T, reply []byte) {
		request, err := messages.NewASReqForTGT(alice.realm, x.kdcs.cfg, alice.name)
		require.NoError(t, err)
		if _, err := x.kdcs.granted(alice, &keys{k}, &request, reply); err == nil {
			t.Fatalf("took %x for a ticket", reply)
		}
		asked, err := x.kdcs.tgsRequest("EXAMPLE.COM", x.ticket.credential, zookeeper)
		require.NoError(t, err)
		if _, err := x.kdcs.readTGS(reply, x.ticket.credential, asked); err == nil {
			t.Fatalf("took %x for a ticket", reply)
		}
		var krbError messages.KRBError
		if parse(func() error { return krbError.Unmarshal(reply) }) == nil {
			_ = x.kdcs.explain(&refusal{krbError}).Error()
			_, _ = preauthType(&refusal{krbError}, supportedTypes)
		}
	})
}

// FuzzFiles reads anything as a keytab and as a credential cache.
func FuzzFiles(f *testing.F) {
	k := keytab.New()
	addKey(f, k, alice, "a", 1, anAES)
	_, content := writeKeytab(f, k)
	f.Add(content)
	f.Add([]byte{5, 4, 0, 0, 0, 0, 0, 1, 0, 0, 0, 1, 0, 0, 0, 1, 'R', 0, 0, 0, 1, 'a'})
	f.Fuzz(func(t *testing.T, content []byte) {
		path := filepath.Join(t.TempDir(), "file")
		if err := os.WriteFile(path, content, 0o600); err != nil {
			t.Fatal(err)
		}
		var e *Error
		if read, err := readKeys(path); err != nil && !errors.As(err, &e) {
			t.Fatal(err)
		} else if err == nil {
			_, _ = read.only()
			_ = read.types(alice)
		}
		info, err := os.Stat(path)
		if err != nil {
			t.Fatal(err)
		}
		cache := &cacheSource{path: path, clock: time.Now}
		if err := cache.read(t.Context(), info); err == nil {
			_, _ = cache.login(t.Context())
		}
	})
}
