package zkconn

import (
	"fmt"
	"slices"

	"github.com/go-zookeeper/zk"
)

// CreatorACL allows everything to whoever creates a node, and nothing to others: Curator's and ZooKeeper's
// CREATOR_ALL_ACL. The server puts in its place every identity that the connection has shown: that of WithSASL, of WithAuth
// ("digest") and of a certificate.
func CreatorACL() []ACL { return zk.AuthACL(zk.PermAll) }

// SASLACL allows something to whoever has authenticated with SASL as that id: the user of DIGEST-MD5; the principal of
// Kerberos as the servers know it, which is user/host@REALM, or less of it where they are told so
// (kerberos.removeHostFromPrincipal, kerberos.removeRealmFromPrincipal).
func SASLACL(permissions int32, id string) ACL {
	return ACL{Perms: permissions, Scheme: "sasl", ID: id}
}

// WithACL sets the access control list of every node that is made; the default is everything for everyone. The
// parents that are made have it too, unless WithParentACL or WithParentACLFunc says otherwise.
//
// Waiters behind a contender whose node they may not READ wait all the same, but nothing tells them
// when it is gone: they look again once a session timeout. An entry for everyone with PermRead
// spares them that, and shows them the owner's host and label.
func WithACL(acl ...ACL) Option {
	return func(c *Config) error {
		if err := checkACL("ACL", acl); err != nil {
			return err
		}
		c.acl = slices.Clone(acl)
		return nil
	}
}

// WithParentACL sets the access control list of the lock paths that are made, of the nodes above
// them, and of the chroot where that is made. Clients that lock there need PermRead, PermCreate and
// PermDelete, and the first of a semaphore PermWrite. Nodes that exist keep the list that they have. The last of WithParentACL and WithParentACLFunc counts.
func WithParentACL(acl ...ACL) Option {
	return func(c *Config) error {
		if err := checkACL("parent ACL", acl); err != nil {
			return err
		}
		kept := slices.Clone(acl)
		c.parentACL = func(string) []ACL { return kept }
		return nil
	}
}

// WithParentACLFunc is WithParentACL with a list for each path. f is given the path at the server, the chroot
// included, because the chroot is made like any other parent; where it gives no entry, the list of WithACL is taken.
// It is called from several goroutines at once. A list that the server finds invalid fails the request.
func WithParentACLFunc(f func(path string) []ACL) Option {
	return func(c *Config) error {
		if f == nil {
			return fmt.Errorf("%w: function for parents' ACLs: must not be nil", ErrBadConfig)
		}
		c.parentACL = f
		return nil
	}
}
