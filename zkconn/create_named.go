package zkconn

import (
	"errors"
	"time"

	"github.com/go-zookeeper/zk"
)

// CreateNamed makes an ephemeral node with just this name, and reads its czxid. beside, unless it
// is empty, names a sibling that must exist then: both are one transaction, so nobody can have come
// between the two.
//
// The error wraps ErrNodeExists, ErrNoNode (of the parent, or of beside: the Path tells),
// ErrNoAuth, ErrNoChildrenForEphemerals or ErrTooLarge. When only the second request failed, Name
// is set and Czxid is 0: the node was made, whatever OutcomeOf says of the error. Siblings is -1.
func (c *Conn) CreateNamed(parent, name string, data []byte, beside string) (Created, error) {
	created := Created{Siblings: -1}
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
		created.Sent = time.Now()
		if _, err := c.transact(parts...); err != nil {
			var refused *partError
			if errors.As(err, &refused) {
				if err = refused.cause; beside != "" && refused.part == 0 {
					return c.failure(op, parent+"/"+beside, err)
				}
			}
			return err
		}
		return c.made(&created, absolute, path, name)
	})
	return created, err
}

// made completes the news of a node that was just made with a name of our choice: its czxid is learnt
// by a second request. absolute is where it is, path the same without the chroot.
func (c *Conn) made(created *Created, absolute, path, name string) error {
	created.Name = name
	stat, exists, err := c.lookUp(absolute)
	if err == nil && !exists {
		err = zk.ErrNoNode
	}
	if err != nil {
		return c.failure("exists", path, err)
	}
	created.Czxid = stat.Czxid
	return nil
}
