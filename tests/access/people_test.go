package access

import (
	"testing"

	"github.com/go-zookeeper/zk"
	"github.com/stretchr/testify/require"

	"github.com/turnstile-locks/turnstile/locks"
	"github.com/turnstile-locks/turnstile/tests/patient"
)

// The people of the stories.
const (
	alice = "alice"
	bob   = "bob"
	carol = "carol"
)

func secret(who string) string { return "the password of " + who }

// credential lets a client act for somebody.
func credential(who string) locks.Option {
	return locks.WithAuth("digest", []byte(who+":"+secret(who)))
}

// may lets somebody do something.
func may(who string, perms int32) zk.ACL { return zk.DigestACL(perms, who, secret(who))[0] }

// all lets everybody do something.
func all(perms int32) zk.ACL { return zk.WorldACL(perms)[0] }

var (
	everyone = zk.WorldACL(zk.PermAll)
	// onlyMe is for a client's own use: the server puts the client's identities in its place.
	onlyMe = zk.AuthACL(zk.PermAll)
)

// as is a plain connection of go-zookeeper's that acts for somebody; "" is nobody.
func (p *place) as(t *testing.T, who string) *zk.Conn {
	t.Helper()
	conn := patient.Raw(t, patient.Session, p.Hosts())
	if who != "" {
		require.NoError(t, conn.AddAuth("digest", []byte(who+":"+secret(who))))
	}
	return conn
}
