package digestmd5

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/turnstile-locks/turnstile/zkconn"
)

// recorded is an exchange that others have written down.
type recorded struct {
	name, user, password    string
	service, host           string
	challenge, cnonce, sent string // sent: what must be in the client's answer
	proof                   string
}

// The first two are the examples of RFC 2831, section 4. The others were recorded between ZooKeeper 3.8.0 and this
// client.
var recordings = []recorded{
	{
		name: "RFC 2831, IMAP", user: "chris", password: "secret", service: "imap", host: "elwood.innosoft.com",
		challenge: `realm="elwood.innosoft.com",nonce="OA6MG9tEQGm2hh",qop="auth",algorithm=md5-sess,charset=utf-8`,
		cnonce:    "OA6MHXh6VqTrRk",
		sent: `charset=utf-8,username="chris",realm="elwood.innosoft.com",nonce="OA6MG9tEQGm2hh",nc=00000001,` +
			`cnonce="OA6MHXh6VqTrRk",digest-uri="imap/elwood.innosoft.com",` +
			`response=d388dad90d4bbd760a152321f2143af7,qop=auth`,
		proof: "rspauth=ea40f60335c427b5527b84dbabcdfffd",
	},
	{
		name: "RFC 2831, ACAP", user: "chris", password: "secret", service: "acap", host: "elwood.innosoft.com",
		challenge: `realm="elwood.innosoft.com",nonce="OA9BSXrbuRhWay",qop="auth",algorithm=md5-sess,charset=utf-8`,
		cnonce:    "OA9BSuZWMSpW8m",
		sent: `charset=utf-8,username="chris",realm="elwood.innosoft.com",nonce="OA9BSXrbuRhWay",nc=00000001,` +
			`cnonce="OA9BSuZWMSpW8m",digest-uri="acap/elwood.innosoft.com",` +
			`response=6084c6db3fede7352c551284490fd0fc,qop=auth`,
		proof: "rspauth=2f0b3d7c3c2e486600ef710726aa2eae",
	},
	{
		name: "ZooKeeper 3.8.0, ASCII", user: "bob", password: `bobsecret`,
		challenge: `realm="zk-sasl-md5",nonce="GQxNCKbi443L77ax6EEh212GLDQL/sebkhDdFUtJ",charset=utf-8,algorithm=md5-sess`,
		cnonce:    "a48e8358392cd06c343606e644c6a9d1",
		sent: `charset=utf-8,username="bob",realm="zk-sasl-md5",` +
			`nonce="GQxNCKbi443L77ax6EEh212GLDQL/sebkhDdFUtJ",nc=00000001,` +
			`cnonce="a48e8358392cd06c343606e644c6a9d1",digest-uri="zookeeper/zk-sasl-md5",` +
			`response=50135f3d01e0b2c2f66252aab1e699e3,qop=auth`,
		proof: "rspauth=295d37d7b31596d9ab6100aa6690970f",
	},
	{
		name: "ZooKeeper 3.8.0, what must be quoted", user: "quoting", password: `a"b\c, d=e`,
		challenge: `realm="zk-sasl-md5",nonce="+uaTyxlsvInu4xBKmu1OrjjJPAfdX81Th6S/S3O9",charset=utf-8,algorithm=md5-sess`,
		cnonce:    "757bc7252da1a46afb2fbf234ee64acd",
		sent: `charset=utf-8,username="quoting",realm="zk-sasl-md5",` +
			`nonce="+uaTyxlsvInu4xBKmu1OrjjJPAfdX81Th6S/S3O9",nc=00000001,` +
			`cnonce="757bc7252da1a46afb2fbf234ee64acd",digest-uri="zookeeper/zk-sasl-md5",` +
			`response=3c9c3a8c0d998c43727f7b345f8886d5,qop=auth`,
		proof: "rspauth=cdf048d9277ee4f20ef8d508f9a8c03c",
	},
	{
		name: "ZooKeeper 3.8.0, ISO 8859-1", user: "josé", password: `contraseña`,
		challenge: `realm="zk-sasl-md5",nonce="heAbHO1x2rHgaBKaIbYdzXbnqCGskn8t0JhAZAAN",charset=utf-8,algorithm=md5-sess`,
		cnonce:    "e59e374052de88b2de022ff0223c266f",
		sent: `charset=utf-8,username="josé",realm="zk-sasl-md5",` +
			`nonce="heAbHO1x2rHgaBKaIbYdzXbnqCGskn8t0JhAZAAN",nc=00000001,` +
			`cnonce="e59e374052de88b2de022ff0223c266f",digest-uri="zookeeper/zk-sasl-md5",` +
			`response=1a10f4faced0e06fa311316881e84da9,qop=auth`,
		proof: "rspauth=4e7f814b138f5680ed0b49c3f5640ab2",
	},
	{
		name: "ZooKeeper 3.8.0, UTF-8", user: "日本", password: `秘密`,
		challenge: `realm="zk-sasl-md5",nonce="ybGhQ/nF4F4NW8P4HlGIu6q/hDjjSRbRL2VJm8Bk",charset=utf-8,algorithm=md5-sess`,
		cnonce:    "0c2467d0ab66fc9b9282fba5061ffb2c",
		sent: `charset=utf-8,username="日本",realm="zk-sasl-md5",` +
			`nonce="ybGhQ/nF4F4NW8P4HlGIu6q/hDjjSRbRL2VJm8Bk",nc=00000001,` +
			`cnonce="0c2467d0ab66fc9b9282fba5061ffb2c",digest-uri="zookeeper/zk-sasl-md5",` +
			`response=eb5bc8bab70f97749f0c68488ef95ac4,qop=auth`,
		proof: "rspauth=95326d1c51984563f7f006cd1587174e",
	},
}

// begin gives an exchange with a nonce that is known.
func begin(t testing.TB, m *Mechanism, cnonce string) zkconn.SASLExchange {
	m.cnonce = func() string { return cnonce }
	e, err := m.Start(t.Context(), zkconn.SASLServer{Host: "zk1", Address: "10.0.0.1:2181"})
	require.NoError(t, err)
	first, err := e.Initial()
	require.NoError(t, err)
	require.Empty(t, first, "the server speaks first")
	return e
}

func (r recorded) begin(t testing.TB) zkconn.SASLExchange {
	opts := []Option{}
	if r.service != "" {
		opts = append(opts, WithService(r.service, r.host))
	}
	m, err := New(r.user, r.password, opts...)
	require.NoError(t, err)
	return begin(t, m, r.cnonce)
}

func TestRecordedExchanges(t *testing.T) {
	for _, r := range recordings {
		t.Run(r.name, func(t *testing.T) {
			e := r.begin(t)
			answer, err := e.Step([]byte(r.challenge))
			require.NoError(t, err)
			require.Equal(t, r.sent, string(answer))
			require.False(t, e.Done(), "the server has shown nothing yet")
			answer, err = e.Step([]byte(r.proof))
			require.NoError(t, err)
			require.Empty(t, answer)
			require.True(t, e.Done())
			_, err = e.Step([]byte(r.proof))
			require.Error(t, err)
			require.False(t, e.Done())
		})
	}
}

func TestServersProofIsVerified(t *testing.T) {
	for name, proof := range map[string]string{
		"none":            "",
		"another":         "rspauth=ea40f60335c427b5527b84dbabcdfffe",
		"shorter":         "rspauth=ea40f60335c427b5527b84dbabcdfff",
		"the client's":    "rspauth=d388dad90d4bbd760a152321f2143af7",
		"two":             "rspauth=ea40f60335c427b5527b84dbabcdfffd,rspauth=ea40f60335c427b5527b84dbabcdfffd",
		"another word":    "response=ea40f60335c427b5527b84dbabcdfffd",
		"no list":         "\x00\x01",
		"a challenge":     recordings[0].challenge,
		"an empty one":    `rspauth=""`,
		"with much added": "rspauth=ea40f60335c427b5527b84dbabcdfffd00",
	} {
		t.Run(name, func(t *testing.T) {
			e := recordings[0].begin(t)
			_, err := e.Step([]byte(recordings[0].challenge))
			require.NoError(t, err)
			_, err = e.Step([]byte(proof))
			require.Error(t, err)
			require.NotContains(t, err.Error(), recordings[0].password)
			require.False(t, e.Done())
			_, err = e.Step([]byte(recordings[0].proof))
			require.Error(t, err, "what has failed stays so")
			require.False(t, e.Done())
		})
	}
}

func TestNonceIsNew(t *testing.T) {
	seen := map[string]bool{}
	for range 100 {
		m, err := New("u", "p")
		require.NoError(t, err)
		cnonce := m.cnonce()
		require.Len(t, cnonce, 32)
		require.False(t, seen[cnonce])
		seen[cnonce] = true
	}
}
