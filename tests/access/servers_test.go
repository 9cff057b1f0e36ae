package access

import (
	"slices"
	"testing"

	"github.com/go-zookeeper/zk"
	"github.com/stretchr/testify/require"

	"github.com/turnstile-locks/turnstile/tests/stories"
)

// story is one thing that is shown.
type story = stories.Story[*place]

// place is the place of a story: a server, in which lists say who may do what.
type place struct{ *stories.Servers }

var kinds = []*stories.Kind{
	{Name: "embedded", Start: stories.Embedded()},
	{Name: "standalone", Real: true, Start: stories.Standalone()},
}

// tell tells the stories on every kind of server.
func tell(t *testing.T, all []story) {
	stories.Tell(t, kinds, all, func(t *testing.T, _ *stories.Kind, zk *stories.Servers) *place {
		at := &place{zk}
		_, err := at.as(t, "").Create(at.Root(), nil, 0, everyone)
		require.NoError(t, err)
		return at
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

// setACL gives a node another list.
func (p *place) setACL(t *testing.T, who, path string, acl []zk.ACL) {
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

// count gives the number of children, as somebody who may read the path: since 3.8.4 and 3.9.2 (ZOOKEEPER-2590) asking
// whether a node exists needs READ, too.
func count(t *testing.T, conn *zk.Conn, path string) int {
	t.Helper()
	exists, stat, err := conn.Exists(path)
	require.NoError(t, err, path)
	if !exists {
		return 0
	}
	return int(stat.NumChildren)
}

// asAll is a connection that acts for all people of the stories, one of whom may read what it asks for.
func (p *place) asAll(t *testing.T) *zk.Conn {
	t.Helper()
	conn := p.as(t, alice)
	for _, who := range []string{bob, carol} {
		require.NoError(t, conn.AddAuth("digest", []byte(who+":"+secret(who))))
	}
	return conn
}

// requireCount compares the number of children now.
func (p *place) requireCount(t *testing.T, want int, path string) {
	t.Helper()
	require.Equal(t, want, count(t, p.asAll(t), p.Root()+path), "children of %s", path)
}

// awaitCount waits until there are so many children.
func (p *place) awaitCount(t *testing.T, want int, path string) {
	t.Helper()
	conn := p.asAll(t)
	eventually(t, func() bool { return count(t, conn, p.Root()+path) == want }, "%s never had %d children", path, want)
}
