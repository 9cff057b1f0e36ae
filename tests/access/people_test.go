package access

import (
	"testing"

	"github.com/go-zookeeper/zk"
	"github.com/stretchr/testify/require"

	"github.com/turnstile-locks/turnstile/locks"
	"github.com/turnstile-locks/turnstile/tests/scene"
	"github.com/turnstile-locks/turnstile/zkconn"
	"github.com/turnstile-locks/turnstile/zkconn/digestmd5"
)

// The people of the stories.
const (
	alice = "alice"
	bob   = "bob"
	carol = "carol"
)

// passwords are their passwords, also in the JAAS files.
var passwords = map[string]string{alice: "alice's pass word", bob: `tr0ub4dor"&\3`, carol: "the password of carol"}

// credential lets a client act for somebody.
func credential(who string) locks.Option {
	return locks.WithAuth("digest", []byte(who+":"+passwords[who]))
}

// mechanism is SASL's for a user.
func mechanism(t testing.TB, user, password string) zkconn.SASLMechanism {
	t.Helper()
	m, err := digestmd5.New(user, password)
	require.NoError(t, err)
	return m
}

// sasl has a client authenticate as somebody of the JAAS files.
func sasl(t testing.TB, who string) locks.Option {
	return locks.WithSASL(mechanism(t, who, passwords[who]))
}

// credential is that of the place's scheme.
func (p *place) credential(t *testing.T, who string) locks.Option {
	t.Helper()
	if p.sasl {
		return sasl(t, who)
	}
	return credential(who)
}

// mine opens a client of alice's, whose nodes are hers alone.
func (p *place) mine(t *testing.T, connect string, opts ...locks.Option) *locks.Client {
	t.Helper()
	return scene.Open(t, connect, append([]locks.Option{p.credential(t, alice), locks.WithACL(onlyMe...)}, opts...)...)
}

// may lets somebody do something.
func may(who string, perms int32) zk.ACL { return zk.DigestACL(perms, who, passwords[who])[0] }

// all lets everybody do something.
func all(perms int32) zk.ACL { return zk.WorldACL(perms)[0] }

var (
	everyone = zk.WorldACL(zk.PermAll)
	// onlyMe is for a client's own use: the server puts the client's identities in its place.
	onlyMe = zkconn.CreatorACL()
)

// as is a plain connection of go-zookeeper's that acts for somebody; "" is nobody.
func (p *place) as(t *testing.T, who string) *zk.Conn {
	t.Helper()
	conn := scene.Raw(t, scene.Session, p.Hosts())
	if who != "" {
		require.NoError(t, conn.AddAuth("digest", []byte(who+":"+passwords[who])))
	}
	return conn
}
