package zkconn

import (
	"errors"
	"fmt"

	"github.com/go-zookeeper/zk"
)

// CreateGuarded makes an ephemeral node with just this name, and its guard: an ephemeral sibling of the
// name guard, without data. Both are one transaction, which is refused if one of them exists. Its
// session has to be able to READ the node: the transaction checks that, and nothing is made otherwise.
//
// The error wraps ErrNodeExists, with the Path of the one that exists, ErrNoNode (of the parent), ErrNoAuth,
// ErrNoChildrenForEphemerals or ErrTooLarge.
func (c *Conn) CreateGuarded(parent, name, guard string, data []byte) (Created, error) {
	var created Created
	const op = "create"
	path := parent + "/" + name
	err := c.operate(op, path, func(absolute string) error {
		if err := checkSize(op, path, data); err != nil {
			return err
		}
		if err := CheckPath(parent + "/" + guard); err != nil {
			return err
		}
		czxid, done := c.births.expect(absolute)
		defer done()
		_, err := c.transact(
			&zk.CreateRequest{Path: absolute, Data: data, Acl: c.cfg.acl, Flags: zk.FlagEphemeral},
			&zk.CheckVersionRequest{Path: absolute, Version: -1},
			&zk.CreateRequest{Path: c.cfg.chroot + parent + "/" + guard, Data: []byte{}, Acl: c.cfg.acl, Flags: zk.FlagEphemeral})
		var refused *partError
		switch {
		case errors.As(err, &refused) && refused.part == 1 && errors.Is(refused.cause, zk.ErrNoAuth):
			return fmt.Errorf("its own session may not read it: %w", refused.cause)
		case refused != nil && refused.part == 2:
			return c.failure(op, parent+"/"+guard, refused.cause)
		case refused != nil:
			return refused.cause
		case err != nil:
			return err
		}
		created.Name = name
		created.Czxid, err = czxid(absolute)
		return err
	})
	return created, err
}
