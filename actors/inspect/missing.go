package inspect

import (
	"errors"

	"github.com/turnstile-locks/turnstile/messages"
	"github.com/turnstile-locks/turnstile/zkconn"
)

// Missing gives the uppermost node on the way to a path that does not exist, now or later: "/" for
// the chroot of the connection. It gives "" where the path exists. The path may be "/". A node that
// may not be read exists.
func Missing(conn *zkconn.Conn, path string) (string, error) {
	if err := CheckRoot(path); err != nil {
		return "", err
	}
	if err := catchUp(conn, path); err != nil {
		return "", err
	}
	if there, err := isThere(conn, path); err != nil || there {
		return "", err
	}
	for _, at := range lineage(path) {
		if there, err := isThere(conn, at); err != nil || !there {
			return at, err
		}
	}
	return "", nil // it was made meanwhile
}

// lineage gives the nodes on the way to a path, from the root to the path itself.
func lineage(path string) []string {
	all := []string{"/"}
	for i := 1; i < len(path); i++ {
		if path[i] == '/' {
			all = append(all, path[:i])
		}
	}
	if path != "/" {
		all = append(all, path)
	}
	return all
}

// isThere tells whether a node exists. Servers tell a client that may not read it at least that it is there, by what
// they refuse.
func isThere(conn *zkconn.Conn, path string) (exists bool, err error) {
	if path == "/" {
		_, err = conn.RootChildren()
		exists = err == nil
	} else {
		_, exists, err = conn.Exists(path)
	}
	switch {
	case errors.Is(err, zkconn.ErrNoNode):
		return false, nil
	case errors.Is(err, zkconn.ErrNoAuth):
		return true, nil
	}
	return exists, err
}

type findMissing struct{ path string }

func (q findMissing) check() error { return CheckRoot(q.path) }

func (q findMissing) refuse(why messages.Refusal) any {
	return &messages.MissingFound{Refusal: why, Path: q.path}
}

func (q findMissing) run(conn *zkconn.Conn) (any, error) {
	missing, err := Missing(conn, q.path)
	return &messages.MissingFound{Path: q.path, Missing: missing}, err
}
