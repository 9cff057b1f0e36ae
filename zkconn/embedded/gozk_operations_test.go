package embedded_test

import (
	"strings"
	"testing"
	"time"

	"github.com/go-zookeeper/zk"
	"github.com/stretchr/testify/require"
	"github.com/turnstile-locks/turnstile/zkconn/embedded"
)

// A client has its identities again when it has reconnected.
func TestGozkAuthIsSentAgain(t *testing.T) {
	s := embedded.Run(t)
	c := dialGozk(t, s)
	require.NoError(t, c.AddAuth("digest", []byte("me:secret")))
	_, err := c.Create("/mine", []byte("x"), 0, zk.AuthACL(zk.PermAll))
	require.NoError(t, err)
	c.cut(s)()
	c.await(zk.StateHasSession)
	data, _, err := c.Get("/mine")
	require.NoError(t, err)
	require.Equal(t, "x", string(data))
}

func TestGozkPermissions(t *testing.T) {
	s := embedded.Run(t)
	owner, stranger := dialGozk(t, s), dialGozk(t, s)
	require.NoError(t, owner.AddAuth("digest", []byte("me:secret")))
	_, err := owner.Create("/mine", nil, 0, zk.DigestACL(zk.PermAll, "me", "secret"))
	require.NoError(t, err)
	forbidden := func() {
		t.Helper()
		_, _, err := stranger.Get("/mine")
		require.ErrorIs(t, err, zk.ErrNoAuth)
		_, err = stranger.Create("/mine/child", nil, 0, worldACL)
		require.ErrorIs(t, err, zk.ErrNoAuth)
		_, _, err = stranger.GetACL("/mine")
		require.ErrorIs(t, err, zk.ErrNoAuth)
	}
	forbidden()
	require.NoError(t, stranger.AddAuth("digest", []byte("me:wrong")))
	forbidden()
	list, stat, err := owner.GetACL("/mine")
	require.NoError(t, err)
	require.Equal(t, zk.DigestACL(zk.PermAll, "me", "secret"), list)
	_, err = owner.SetACL("/mine", zk.WorldACL(zk.PermRead), stat.Aversion+1)
	require.ErrorIs(t, err, zk.ErrBadVersion)
	_, err = owner.SetACL("/mine", zk.WorldACL(zk.PermRead), stat.Aversion)
	require.NoError(t, err)
	_, _, err = stranger.Get("/mine")
	require.NoError(t, err)
	_, err = owner.Set("/mine", nil, all)
	require.ErrorIs(t, err, zk.ErrNoAuth)
	_, err = owner.Create("/bad", nil, 0, []zk.ACL{{Perms: zk.PermAll, Scheme: "none", ID: "x"}})
	require.ErrorIs(t, err, zk.ErrInvalidACL)
	require.ErrorIs(t, stranger.AddAuth("none", []byte("x")), zk.ErrAuthFailed)
	stranger.await(zk.StateHasSession) // that has cost the connection
}

// TestGozkTextThatIsNotUTF8: bytes that are not UTF-8 come back as Java's String reads them: a U+FFFD for as many as could
// have begun a character. The numbers are those of OpenJDK 17.
func TestGozkTextThatIsNotUTF8(t *testing.T) {
	c := dialGozk(t, embedded.Run(t))
	for id, marks := range map[string]int{
		"\x80\x80": 2, "\xc2": 1, "\xc0\x80": 2, "\xe2\x82": 1, "\xe0\x80": 2, "\xe0\xa0": 1, "\xed\xa0\x80": 1,
		"\xf0\x9f": 1, "\xf0\x9f\x98": 1, "\xf1\x80\x80": 1, "\xf0\x80": 2, "\xf0\x8f\x80": 3, "\xf4\x8f\xbf": 1, "\xf4\x90": 2, "\xf5\x80": 2,
	} {
		list := []zk.ACL{{Perms: zk.PermAll, Scheme: "digest", ID: "u:" + id + "a"}, worldACL[0]}
		_, err := c.Create("/text", nil, 0, list)
		require.NoError(t, err)
		list, _, err = c.GetACL("/text")
		require.NoError(t, err)
		require.Equal(t, "u:"+strings.Repeat("\ufffd", marks)+"a", list[0].ID, "%x", id)
		require.NoError(t, c.Delete("/text", all))
	}
}

func TestGozkMulti(t *testing.T) {
	s := embedded.Run(t)
	c := dialGozk(t, s)
	results, err := c.Multi(
		&zk.CreateRequest{Path: "/a", Acl: worldACL},
		&zk.CreateRequest{Path: "/a/n-", Acl: worldACL, Flags: zk.FlagSequence | zk.FlagEphemeral},
		&zk.SetDataRequest{Path: "/a", Data: []byte("new"), Version: 0},
		&zk.CheckVersionRequest{Path: "/a", Version: 1},
		&zk.DeleteRequest{Path: "/a/n-0000000000", Version: 0},
	)
	require.NoError(t, err)
	require.Len(t, results, 5)
	require.Equal(t, "/a/n-0000000000", results[1].String)
	require.Equal(t, int32(1), results[2].Stat.Version)
	for _, r := range results {
		require.NoError(t, r.Error)
	}
	results, err = c.Multi(
		&zk.SetDataRequest{Path: "/a", Data: []byte("lost"), Version: all},
		&zk.CreateRequest{Path: "/a", Acl: worldACL},
		&zk.DeleteRequest{Path: "/a", Version: all},
	)
	require.Error(t, err)
	require.Len(t, results, 3)
	require.NoError(t, results[0].Error)
	require.ErrorIs(t, results[1].Error, zk.ErrNodeExists)
	require.Error(t, results[2].Error)
	data, stat, err := c.Get("/a")
	require.NoError(t, err)
	require.Equal(t, "new", string(data))
	require.Equal(t, int32(1), stat.Version)
}

// Nodes that end by themselves do so by the server's clock.
func TestGozkContainersAndTimesToLive(t *testing.T) {
	clock := embedded.NewManualClock(time.Unix(1e9, 0))
	s := embedded.Run(t, embedded.WithClock(clock), embedded.WithReapInterval(time.Second))
	c := dialGozk(t, s)
	_, err := c.CreateContainer("/container", nil, zk.FlagContainer, worldACL)
	require.NoError(t, err)
	_, err = c.CreateTTL("/brief", nil, zk.FlagTTL, worldACL, 1500*time.Millisecond)
	require.NoError(t, err)
	numbered, err := c.CreateTTL("/brief-", nil, zk.FlagPersistentSequentialWithTTL, worldACL, time.Hour)
	require.NoError(t, err)
	c.make("/container/child", 0)
	left := func() (names []string) {
		t.Helper()
		for _, path := range []string{"/container", "/brief", numbered} {
			there, _, err := c.Exists(path)
			require.NoError(t, err)
			if there {
				names = append(names, path)
			}
		}
		return names
	}
	clock.Advance(time.Second)
	require.Equal(t, []string{"/container", "/brief", numbered}, left())
	require.NoError(t, c.Delete("/container/child", all))
	clock.Advance(2 * time.Second)
	require.Equal(t, []string{numbered}, left())
	_, err = c.CreateTTL("/never", nil, zk.FlagTTL, worldACL, -time.Second)
	require.ErrorIs(t, err, zk.ErrBadArguments)
}

func TestGozkTheRest(t *testing.T) {
	s := embedded.Run(t)
	c := dialGozk(t, s)
	path, err := c.Sync("/nowhere")
	require.NoError(t, err)
	require.Equal(t, "/nowhere", path)
	_, err = c.IncrementalReconfig([]string{"server.9=127.0.0.1:1:2"}, nil, -1)
	require.ErrorIs(t, err, zk.ErrReconfigDisabled)
	// Not FLWSrvr, which does not parse how ZooKeeper writes dates either.
	require.Equal(t, []bool{true}, zk.FLWRuok([]string{s.Addr()}, patience))
	require.Equal(t, s.Addr(), c.Server())
	require.ErrorIs(t, c.Delete("/nowhere", all), zk.ErrNoNode)
	c.make("/a", zk.FlagEphemeral)
	_, err = c.Create("/a/b", nil, 0, worldACL)
	require.ErrorIs(t, err, zk.ErrNoChildrenForEphemerals)
	_, err = c.Set("/a", nil, 7)
	require.ErrorIs(t, err, zk.ErrBadVersion)
	require.ErrorIs(t, c.Delete("/a", 7), zk.ErrBadVersion)
	require.ErrorIs(t, c.Delete("/zookeeper", all), zk.ErrBadArguments)
}
