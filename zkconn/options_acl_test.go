package zkconn

import (
	"context"
	"crypto/tls"
	"net"
	"testing"

	"github.com/go-zookeeper/zk"
	"github.com/stretchr/testify/require"
)

func TestACLsThatNoServerAcceptsAreRefused(t *testing.T) {
	for name, acl := range map[string][]ACL{
		"no entry":            nil,
		"no permission":       {{Perms: 0, Scheme: "world", ID: "anyone"}},
		"negative":            {{Perms: -1, Scheme: "world", ID: "anyone"}},
		"unknown permission":  {{Perms: 32, Scheme: "world", ID: "anyone"}},
		"no scheme":           {{Perms: 31, ID: "anyone"}},
		"somebody of world":   {{Perms: 31, Scheme: "world", ID: "me"}},
		"the second is wrong": {{Perms: 31, Scheme: "world", ID: "anyone"}, {Perms: 31}},
	} {
		_, err := NewConfig("h", WithACL(acl...))
		require.ErrorIs(t, err, ErrBadConfig, name)
		_, err = NewConfig("h", WithParentACL(acl...))
		require.ErrorIs(t, err, ErrBadConfig, name)
		require.ErrorContains(t, err, "parent ACL", name)
	}
	_, err := NewConfig("h", WithParentACLFunc(nil))
	require.ErrorIs(t, err, ErrBadConfig)
}

func TestAuthACLNeedsAnIdentity(t *testing.T) {
	mine := WithACL(zk.AuthACL(zk.PermAll)...)
	_, err := NewConfig("h", mine)
	require.ErrorIs(t, err, ErrBadConfig)
	require.ErrorContains(t, err, "WithAuth")
	for name, opt := range map[string]Option{
		"credential": WithAuth("digest", []byte("u:p")),
		"TLS":        WithTLS(&tls.Config{}),
		"dialer":     WithDialer(func(context.Context, string, string) (net.Conn, error) { return nil, nil }),
	} {
		_, err = NewConfig("h", mine, opt)
		require.NoError(t, err, name)
		_, err = NewConfig("h", opt, mine)
		require.NoError(t, err, name)
	}
}

func TestACLOfParents(t *testing.T) {
	all, read := zk.WorldACL(zk.PermAll), zk.WorldACL(zk.PermRead)
	of := func(opts ...Option) []ACL {
		c, err := NewConfig("h", opts...)
		require.NoError(t, err)
		acl, err := c.aclOfParent("/a/b")
		require.NoError(t, err)
		return acl
	}
	require.Equal(t, all, of(), "the default")
	require.Equal(t, read, of(WithACL(read...)), "that of the contenders")
	require.Equal(t, all, of(WithACL(read...), WithParentACL(all...)), "one of their own")
	require.Equal(t, all, of(WithParentACL(all...), WithACL(read...)), "in whatever order")
	byPath := WithParentACLFunc(func(path string) []ACL {
		if path == "/a/b" {
			return read
		}
		return nil
	})
	require.Equal(t, read, of(byPath))
	elsewhere := WithParentACLFunc(func(string) []ACL { return nil })
	require.Equal(t, read, of(elsewhere, WithACL(read...)), "none is that of the contenders")
	require.Equal(t, read, of(WithParentACL(all...), byPath), "the last counts")
	require.Equal(t, all, of(byPath, WithParentACL(all...)), "the last counts")
}

// The chroot of these connections is /base.
func TestParentThatMayNotBeMadeNamesTheNodeThatForbidsIt(t *testing.T) {
	for path, named := range map[string]string{
		"/base":         "no CREATE at the root",
		"/base/a":       "no CREATE at the chroot, /base",
		"/base/a/b/c/d": "no CREATE at /a/b/c:",
	} {
		c, _ := connected(t, func(r fakeRequest) fakeReply {
			switch made, _ := createdPath(r); {
			case r.op == opExists:
				return fakeReply{code: -101}
			case made == path:
				return fakeReply{code: -102}
			default:
				return fakeReply{code: -101}
			}
		})
		err := c.EnsureParents("/a/b/c/d")
		require.ErrorIs(t, err, ErrNoAuth)
		require.ErrorContains(t, err, named)
		require.Equal(t, Refused, OutcomeOf(err))
	}
}
