package zkconn

import (
	"fmt"
	"slices"

	"github.com/go-zookeeper/zk"
)

// ACL is one entry of a node's access control list.
type ACL = zk.ACL

// WithACL sets the access control list of every node that is made; the default is everything for everyone. The
// parents that are made have it too, unless WithParentACL or WithParentACLFunc says otherwise.
//
// A contender whose node others may not READ is waited for all the same, but they are not told when it is gone: they
// look again once a session timeout. An entry for everyone with PermRead spares them that, and shows them the
// owner's host and label.
func WithACL(acl ...ACL) Option {
	return func(c *Config) error {
		if err := checkACL("ACL", acl); err != nil {
			return err
		}
		c.acl = slices.Clone(acl)
		return nil
	}
}

// WithParentACL sets the access control list of the lock paths that are made, of the nodes above them, and of the
// chroot where that is made. Whoever is to lock there needs PermRead, PermCreate and PermDelete; with PermWrite it
// takes one round trip. Nodes that exist keep the list that they have. The last of WithParentACL and
// WithParentACLFunc counts.
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

// aclOfParent gives the list for a parent that is to be made.
func (c Config) aclOfParent(absolute string) []ACL {
	if c.parentACL != nil {
		if acl := c.parentACL(absolute); len(acl) > 0 {
			return acl
		}
	}
	return c.acl
}

// checkACL refuses what no server accepts, or what allows nobody anything.
func checkACL(what string, acl []ACL) error {
	if len(acl) == 0 {
		return fmt.Errorf("%w: %s %v: must have an entry", ErrBadConfig, what, acl)
	}
	for _, entry := range acl {
		switch {
		case entry.Perms <= 0 || entry.Perms > zk.PermAll:
			return fmt.Errorf("%w: %s: permissions %d: must be some of the five bits of zk.PermAll", ErrBadConfig, what, entry.Perms)
		case entry.Scheme == "":
			return fmt.Errorf("%w: %s: scheme %q: must not be empty", ErrBadConfig, what, entry.Scheme)
		case entry.Scheme == "world" && entry.ID != "anyone":
			return fmt.Errorf(`%w: %s: id %q of the scheme "world": must be "anyone"`, ErrBadConfig, what, entry.ID)
		}
	}
	return nil
}

// checkIdentity refuses lists for "whoever I am" where there is nobody to be: a server would find them invalid at
// the first node. Who connects with TLS, or with a dialer, may have a certificate to be known by.
func (c Config) checkIdentity() error {
	if len(c.credentials) > 0 || c.tls != nil || c.dial != nil {
		return nil
	}
	if slices.ContainsFunc(c.acl, func(entry ACL) bool { return entry.Scheme == "auth" }) {
		return fmt.Errorf(`%w: ACL with the scheme "auth": needs a credential (WithAuth) or a client certificate (WithTLS)`, ErrBadConfig)
	}
	return nil
}
