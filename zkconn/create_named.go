package zkconn

import (
	"errors"
	"time"

	"github.com/go-zookeeper/zk"
)

// CreateNamed makes an ephemeral node with just this name. beside, unless it
// is empty, names a sibling that must exist then: both are one transaction, so nobody can have come
// between the two.
//
// The error wraps ErrNodeExists, ErrNoNode (of the parent, or of beside: the Path tells),
// ErrNoAuth, ErrNoChildrenForEphemerals or ErrTooLarge.
func (c *Conn) CreateNamed(parent, name string, data []byte, beside string) (Created, error) {
	var created Created
	const op = "create"
	path := parent + "/" + name
	err := c.operate(op, path, func(absolute string) error {
		if err := checkSize(op, path, data); err != nil {
			return err
		}
		parts := []any{&zk.CreateRequest{Path: absolute, Data: data, Acl: c.cfg.acl, Flags: zk.FlagEphemeral}}
		if beside != "" {
			parts = append([]any{&zk.CheckVersionRequest{Path: c.cfg.chroot + parent + "/" + beside, Version: -1}}, parts...)
		}
		czxid, done := c.births.expect(absolute)
		defer done()
		created.Sent = time.Now()
		_, err := c.transact(parts...)
		if err != nil {
			var refused *partError
			if errors.As(err, &refused) {
				if err = refused.cause; beside != "" && refused.part == 0 {
					return c.failure(op, parent+"/"+beside, err)
				}
			}
			return err
		}
		created.Name = name
		created.Czxid, err = czxid(absolute)
		return err
	})
	return created, err
}
