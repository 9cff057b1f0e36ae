package access

import (
	"slices"
	"testing"

	"github.com/go-zookeeper/zk"
	"github.com/stretchr/testify/require"

	"github.com/turnstile-locks/turnstile/locks"
	"github.com/turnstile-locks/turnstile/tests/rig"
	"github.com/turnstile-locks/turnstile/tests/scene"
	"github.com/turnstile-locks/turnstile/zkconn/embedded"
)

func TestMain(m *testing.M) { scene.Main(m) }

// story is one thing that is shown.
type story = scene.Story[*place]

// place is the place of a story: a server, in which lists say who may do what.
type place struct {
	*scene.Servers
	sasl     bool // people are known by SASL, and not by the scheme digest
	required bool // nobody is let in without SASL
}

var kinds = []*scene.ServerKind{
	{Name: "embedded", Start: scene.Embedded()},
	{Name: "standalone", Real: true, Start: scene.Standalone()},
}

var jaas = rig.WithJAAS(rig.DigestJAAS(passwords))

var saslKinds = []*scene.ServerKind{
	{Name: "embedded, SASL", Start: scene.Embedded(embedded.WithSASL(passwords))},
	{Name: "embedded, SASL required", Required: true,
		Start: scene.Embedded(embedded.WithSASLRequired(), embedded.WithSASL(passwords))},
	{Name: "standalone, SASL", Real: true, Start: scene.Standalone(jaas)},
	{Name: "standalone, SASL required", Real: true, Required: true,
		Start: scene.Standalone(rig.WithConfig("sessionRequireClientSASLAuth", "true"), jaas)},
	{Name: "ensemble, SASL enforced", Real: true, Required: true,
		Start: scene.Ensemble(3, jaas,
			rig.WithConfig("enforce.auth.enabled", "true"), rig.WithConfig("enforce.auth.schemes", "sasl"),
			rig.WithConfig("syncLimit", "100"))}, // 20 s: a stall is no reason to elect
}

// tell tells the stories on every kind of server, where people have digest credentials.
func tell(t *testing.T, all []story) {
	scene.Tell(t, kinds, all, func(t *testing.T, _ *scene.ServerKind, zk *scene.Servers) *place {
		at := &place{Servers: zk}
		_, err := at.as(t, "").Create(at.Root(), nil, 0, everyone)
		require.NoError(t, err)
		return at
	})
}

// tellSASL tells them where people are known by SASL.
func tellSASL(t *testing.T, all []story) {
	scene.Tell(t, saslKinds, all, func(_ *testing.T, kind *scene.ServerKind, zk *scene.Servers) *place {
		return &place{zk, true, kind.Required}
	})
}

// make makes nodes with that list, one below the other as they are named.
func (p *place) make(t *testing.T, who string, acl []zk.ACL, paths ...string) {
	t.Helper()
	conn := p.as(t, who)
	for _, path := range paths {
		_, err := conn.Create(p.Root()+path, nil, 0, acl)
		require.NoError(t, err, path)
	}
}

// makeLock makes /lock, where everybody has some permissions, and bob all.
func (p *place) makeLock(t *testing.T, perms int32) {
	t.Helper()
	p.make(t, bob, []zk.ACL{all(perms), may(bob, zk.PermAll)}, "/lock")
}

// setACL gives a node another list.
func (p *place) setACL(t *testing.T, who, path string, acl ...zk.ACL) {
	t.Helper()
	_, err := p.as(t, who).SetACL(p.Root()+path, acl, -1)
	require.NoError(t, err)
}

// acl reads a node's list.
func (p *place) acl(t *testing.T, who, path string) []zk.ACL {
	t.Helper()
	acl, _, err := p.as(t, who).GetACL(p.Root() + path)
	require.NoError(t, err, path)
	return acl
}

// children lists a lock path as somebody who may.
func (p *place) children(t *testing.T, who, path string) []string {
	t.Helper()
	names, _, err := p.as(t, who).Children(p.Root() + path)
	require.NoError(t, err, path)
	slices.Sort(names)
	return names
}

// count gives the number of children, as one who acts for all people: since 3.8.4 and 3.9.2 (ZOOKEEPER-2590) asking
// whether a node exists needs READ, too.
func (p *place) count(t *testing.T, path string) func() int {
	t.Helper()
	conn := p.as(t, alice)
	for _, who := range []string{bob, carol} {
		require.NoError(t, conn.AddAuth("digest", []byte(who+":"+passwords[who])))
	}
	return func() int {
		exists, stat, err := conn.Exists(p.Root() + path)
		require.NoError(t, err, path)
		if !exists {
			return 0
		}
		return int(stat.NumChildren)
	}
}

// requireCount compares the number of children now.
func (p *place) requireCount(t *testing.T, want int, path string) {
	t.Helper()
	require.Equal(t, want, p.count(t, path)(), "children of %s", path)
}

// awaitCount waits until there are so many children.
func (p *place) awaitCount(t *testing.T, want int, path string) {
	t.Helper()
	count := p.count(t, path)
	scene.Eventually(t, func() bool { return count() == want }, "%s never had %d children", path, want)
}

// use takes a lock and gives it back.
func use(t *testing.T, client *locks.Client, path string) *locks.Lease {
	t.Helper()
	lease := scene.LockAt(t, client, path)
	require.Equal(t, path, lease.Path())
	require.True(t, lease.Valid())
	scene.GiveBack(t, lease)
	return lease
}
