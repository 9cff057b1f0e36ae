package zkconn

import (
	"errors"
	"slices"
	"strings"
)

// MissingParents gives the creates of the nodes above path that do not exist, from the top. A
// transaction that creates path needs them before it. They have no data, and the ACL of
// WithParentACL. A node that may not be read is taken to exist. The answer is a snapshot: when the
// creates are sent, somebody else may have made the nodes.
func (c *Conn) MissingParents(path string) ([]Op, error) {
	var missing []Op
	for at := strings.LastIndexByte(path, '/'); at > 0; at = strings.LastIndexByte(path, '/') {
		path = path[:at]
		_, exists, err := c.Exists(path)
		switch {
		case exists, errors.Is(err, ErrNoAuth):
			slices.Reverse(missing)
			return missing, nil
		case err != nil:
			return nil, err
		}
		missing = append(missing, Op{Kind: OpCreate, Path: path, acl: c.cfg.aclOfParent(c.cfg.chroot + path)})
	}
	slices.Reverse(missing)
	return missing, nil
}
