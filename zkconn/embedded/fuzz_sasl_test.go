package embedded

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// FuzzSASL answers challenges with arbitrary bytes: nobody is authenticated by them, and nothing panics.
func FuzzSASL(f *testing.F) {
	f.Add([]byte(nil), []byte(`charset=utf-8,username="bob",realm="zk-sasl-md5",nonce="NONCE",nc=00000001,cnonce="c",`+
		`digest-uri="zookeeper/zk-sasl-md5",response=00000000000000000000000000000000,qop=auth`))
	f.Add([]byte("x"), []byte(`username="bob\",a=`))
	f.Add([]byte(nil), []byte("maxbuf=x,nonce-count=1,=,"))
	f.Fuzz(func(t *testing.T, first, second []byte) {
		passwordOf := func(user string) (string, bool) { return "never to be guessed: 9f86d081884c7d65", user == "bob" }
		var x digestExchange
		challenge, refused := x.step(first, passwordOf)
		if refused != codeOK {
			require.Greater(t, len(first), maxDigestResponse)
			return
		}
		require.Contains(t, string(challenge), x.nonce)
		answer, refused := x.step([]byte(strings.ReplaceAll(string(second), "NONCE", x.nonce)), passwordOf)
		require.NotEqual(t, codeOK, refused)
		require.Empty(t, answer)
		require.Empty(t, x.user)
	})
}

// The parser takes any bytes apart the same way twice, and never finds more than there is.
func FuzzDirectives(f *testing.F) {
	f.Add(`a=1, username="b\"c" ,, realm = d e`)
	f.Add(`username="`)
	f.Fuzz(func(t *testing.T, text string) {
		found, ok := parseDirectives(text)
		if !ok {
			require.Nil(t, found)
			return
		}
		for name, value := range found {
			require.True(t, digestDirectives[name])
			require.LessOrEqual(t, len(name)+len(value), len(text))
		}
	})
}

func TestUsersThatWouldBePrincipalsAreRefused(t *testing.T) {
	for _, users := range []map[string]string{{"": "p"}, {"u": ""}, {"a/b": "p"}, {"a@B": "p"}, {"a:b": "p"}} {
		_, err := Start(WithSASL(users))
		require.ErrorContains(t, err, "embedded: user")
	}
}
