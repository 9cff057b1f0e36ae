package zkconn

import (
	"errors"
	"time"

	"github.com/go-zookeeper/zk"
)

// ReplaceNamed makes an ephemeral node with just this name in place of a sibling, which is deleted if it has this
// version: both are one transaction.
//
// ErrNoNode and ErrBadVersion with the Path of the sibling, where that is gone or was written to; otherwise as
// CreateNamed.
func (c *Conn) ReplaceNamed(parent, sibling string, version int32, name string, data []byte) (Created, error) {
	var created Created
	const op = "replace"
	path := parent + "/" + name
	err := c.operate(op, path, func(absolute string) error {
		if err := checkSize(op, path, data); err != nil {
			return err
		}
		czxid, done := c.births.expect(absolute)
		defer done()
		created.Sent = time.Now()
		_, err := c.transact(
			&zk.DeleteRequest{Path: c.cfg.chroot + parent + "/" + sibling, Version: version},
			&zk.CreateRequest{Path: absolute, Data: data, Acl: c.cfg.acl, Flags: zk.FlagEphemeral})
		var refused *partError
		switch {
		case errors.As(err, &refused) && refused.part == 0:
			return c.failure(op, parent+"/"+sibling, refused.cause)
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
