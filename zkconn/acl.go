package zkconn

import (
	"fmt"

	"github.com/go-zookeeper/zk"
)

// ACL is one entry of a node's access control list.
type ACL = zk.ACL

// ReadsOwn refuses a node that the session could not read: ErrNoAuth where the ACL of what it makes gives READ to nobody.
// Whether somebody else is meant, only a server knows.
func (c *Conn) ReadsOwn(path string) error {
	for _, entry := range c.cfg.acl {
		if entry.Perms&zk.PermRead != 0 {
			return nil
		}
	}
	return &Error{"create", path, fmt.Errorf("%w: its own session could not read it", ErrNoAuth)}
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
