package digestmd5

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

const plain = `realm="r",nonce="n",algorithm=md5-sess,charset=utf-8`

func step(t *testing.T, user, challenge string, opts ...Option) (string, error) {
	t.Helper()
	m, err := New(user, "secret", opts...)
	require.NoError(t, err)
	answer, err := begin(t, m, "c").Step([]byte(challenge))
	return string(answer), err
}

func TestChallengesThatAreRefused(t *testing.T) {
	for challenge, reason := range map[string]string{
		"":                                       "nonce",
		"\x00\xff":                               "no name",
		"nonce":                                  "no name",
		`nonce="n"`:                              "algorithm",
		`nonce=,algorithm=md5-sess`:              "value of nonce",
		`nonce="n,algorithm=md5-sess`:            "no end",
		`nonce="n\`:                              "no end",
		`nonce="n" algorithm=md5-sess`:           "no comma",
		`nonce="",algorithm=md5-sess`:            "nonce",
		`nonce="n",nonce="n",algorithm=md5-sess`: "2 times",
		`nonce="n",algorithm=md5`:                "md5-sess",
		`nonce="n",algorithm=md5-sess,algorithm=md5-sess`: "2 times",
		`nonce="n",algorithm=md5-sess,charset=latin-1`:    "utf-8",
		`nonce="n",algorithm=md5-sess,qop="auth-conf"`:    "does not offer auth",
		`nonce="n",algorithm=md5-sess,qop="authentic"`:    "does not offer auth",
		plain + strings.Repeat(",", 2048):                 "at most",
		`realm="r",nonce="n",algorithm=md5-sess,qop=""`:   "qop",
		"nonce=n\x01,algorithm=md5-sess":                  "value of nonce",
		`rspauth=ea40f60335c427b5527b84dbabcdfffd`:        "nonce",
	} {
		_, err := step(t, "u", challenge)
		require.ErrorContains(t, err, reason, "%q", challenge)
		require.NotContains(t, err.Error(), "secret")
	}
}

func TestChallengesThatAreAnswered(t *testing.T) {
	for challenge, answer := range map[string]string{
		plain: `realm="r",nonce="n",`,
		" \t,, REALM = \"r\" ,\r\n nonce=n ,algorithm=md5-sess, charset=UTF-8,":        `realm="r",nonce="n",`,
		`nonce="n",algorithm=md5-sess,charset=utf-8`:                                   `username="u",nonce="n",`,
		plain + `,realm="second",qop="auth-int, auth",maxbuf=65536,cipher="rc4",x="y"`: `realm="r",nonce="n",`,
		`realm="a\"b\\c",nonce="a\b",algorithm=md5-sess`:                               `realm="a\"b\\c",nonce="ab",`,
	} {
		got, err := step(t, "u", challenge)
		require.NoError(t, err, "%q", challenge)
		require.Contains(t, got, answer, "%q", challenge)
	}
}

func TestRealmIsChosen(t *testing.T) {
	const two = `realm="one",realm="two",nonce="n",algorithm=md5-sess,charset=utf-8`
	got, err := step(t, "u", two, WithRealm("two"))
	require.NoError(t, err)
	require.Contains(t, got, `realm="two"`)
	_, err = step(t, "u", two, WithRealm("three"))
	require.ErrorContains(t, err, "three")
	require.ErrorContains(t, err, "two")
}

// The hash is over ISO 8859-1 where that is possible; what is sent is in UTF-8 where the server takes it.
func TestCharacterSets(t *testing.T) {
	const without = `realm="r",nonce="n",algorithm=md5-sess`
	got, err := step(t, "josé", plain)
	require.NoError(t, err)
	require.Contains(t, got, `username="josé"`)
	latin, err := step(t, "josé", without)
	require.NoError(t, err)
	require.Contains(t, latin, "username=\"jos\xe9\"")
	_, digest, _ := strings.Cut(got, ",response=")
	require.Contains(t, latin, ",response="+digest, "the same hash")

	got, err = step(t, "日本", plain)
	require.NoError(t, err)
	require.Contains(t, got, `username="日本"`)
	_, err = step(t, "日本", without)
	require.ErrorContains(t, err, "ISO 8859-1")

	got, err = step(t, `a"b\c`, plain)
	require.NoError(t, err)
	require.Contains(t, got, `username="a\"b\\c"`)
}

// FuzzChallenge feeds both steps with garbage: nothing panics, and nothing is believed that was not proved.
func FuzzChallenge(f *testing.F) {
	for _, r := range recordings {
		f.Add([]byte(r.challenge), []byte(r.proof))
	}
	f.Add([]byte(plain), []byte("rspauth=0"))
	f.Fuzz(func(t *testing.T, challenge, proof []byte) {
		m, err := New("chris", "secret", WithService("imap", "elwood.innosoft.com"))
		require.NoError(t, err)
		e := begin(t, m, "OA6MHXh6VqTrRk").(*exchange)
		answer, err := e.Step(challenge)
		if err != nil {
			require.Empty(t, answer)
			_, err = e.Step(proof)
			require.Error(t, err)
			require.False(t, e.Done())
			return
		}
		sent, err := parse(answer)
		require.NoError(t, err, "%q", answer)
		user, err := sent.only("username")
		require.NoError(t, err)
		require.Equal(t, "chris", user, "no challenge adds to the answer or changes it")
		require.NotContains(t, string(answer), "secret")
		_, err = e.Step(proof)
		require.Equal(t, err == nil, e.Done())
		if e.Done() {
			require.Contains(t, string(proof), e.proof)
		}
	})
}
