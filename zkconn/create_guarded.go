package zkconn

import "github.com/go-zookeeper/zk"

// CreateGuarded makes an ephemeral node with just this name, and its guard: an ephemeral sibling of the
// name guard, without data. Both are one transaction, which is refused if one of them exists. Its
// session has to be able to READ the node: the transaction checks that, and nothing is made otherwise.
//
// The error wraps ErrNodeExists, with the Path of the one that exists, ErrNoNode (of the parent), ErrNoAuth,
// ErrNoChildrenForEphemerals or ErrTooLarge.
func (c *Conn) CreateGuarded(parent, name, guard string, data []byte) (Created, error) {
	const op = "create"
	if err := CheckPath(parent + "/" + guard); err != nil {
		return Created{}, &Error{op, parent + "/" + name, err}
	}
	return c.createNamed(op, parent, name, data, func(create *zk.CreateRequest) []any {
		return []any{create, &zk.CheckVersionRequest{Path: create.Path, Version: -1},
			&zk.CreateRequest{Path: c.cfg.chroot + parent + "/" + guard, Data: []byte{}, Acl: c.cfg.acl, Flags: zk.FlagEphemeral}}
	}, func(part int, cause error) error {
		switch part {
		case 1:
			return unreadable(cause)
		case 2:
			return c.failure(op, parent+"/"+guard, cause)
		}
		return cause
	})
}
