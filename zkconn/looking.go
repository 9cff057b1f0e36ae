package zkconn

// RootChildren gives the names of the children of the root, which is the chroot where there is one.
// Unlike Children it takes no path: no other operation is for the root. The error wraps ErrNoNode
// where the chroot does not exist.
func (c *Conn) RootChildren() (names []string, err error) {
	if err := c.gate.enter(); err != nil {
		return nil, &Error{"list", "/", err}
	}
	defer c.gate.leave()
	root := c.cfg.chroot
	if root == "" {
		root = "/"
	}
	names, err = c.list(root)
	if err != nil {
		return nil, c.failure("list", "/", err)
	}
	return names, nil
}

// DeleteAt deletes a node that has this version. ErrBadVersion where it has another, ErrNoNode, ErrNotEmpty.
func (c *Conn) DeleteAt(path string, version int32) error {
	return c.operate("delete", path, func(absolute string) error {
		return c.patiently(func() error { return c.zk.Delete(absolute, version) })
	})
}
