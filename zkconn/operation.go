package zkconn

import (
	"errors"
	"fmt"
	"time"

	"github.com/go-zookeeper/zk"
)

// Stat is the part of a node's stat that this package uses.
type Stat struct {
	// Czxid, Mzxid and Pzxid are the transactions that made the node, last set its data, and last changed its children.
	Czxid, Mzxid, Pzxid int64
	// EphemeralOwner is the session whose end deletes the node; 0 for none.
	EphemeralOwner int64
	// Version counts the changes of its data.
	Version int32
	// NumChildren is the number of its children.
	NumChildren int32
	// DataLength is the length of its data in bytes.
	DataLength int32
	// Ctime is when it was made, Mtime when its data was last set, by the wall clock of the servers' leader, to the
	// millisecond.
	Ctime, Mtime time.Time
}

func newStat(s *zk.Stat) Stat {
	return Stat{
		Czxid: s.Czxid, Mzxid: s.Mzxid, Pzxid: s.Pzxid, EphemeralOwner: s.EphemeralOwner,
		Version: s.Version, NumChildren: s.NumChildren, DataLength: s.DataLength,
		Ctime: time.UnixMilli(s.Ctime), Mtime: time.UnixMilli(s.Mtime),
	}
}

// operate runs one operation on a node: it checks the path, lets nothing in once the Conn is over, and makes an
// *Error of what went wrong. run gets the path at the server.
func (c *Conn) operate(op, path string, run func(absolute string) error) error {
	if err := CheckPath(path); err != nil {
		return &Error{Op: op, Path: path, Err: err}
	}
	if err := c.gate.enter(); err != nil {
		return &Error{Op: op, Path: path, Err: err}
	}
	defer c.gate.leave()
	if err := run(c.cfg.chroot + path); err != nil {
		return c.failure(op, path, err)
	}
	return nil
}

// failure makes an *Error of an error of the library; one that is an *Error already stays as it is.
func (c *Conn) failure(op, path string, cause error) error {
	var done *Error
	if errors.As(cause, &done) {
		return cause
	}
	value, closed := classify(cause), c.gate.why()
	switch {
	case closed != nil && value == ErrUnknownOutcome:
		return &Error{op, path, fmt.Errorf("%w: %w: %w", value, closed, cause)}
	case closed != nil && value == ErrUnavailable:
		// The library says this to what is still in its queue when it is closed.
		return &Error{op, path, fmt.Errorf("%w: %w", closed, cause)}
	case value == ErrUnknownOutcome && hasCode(cause):
		return &Error{op, path, fmt.Errorf("%w: %w: %w", value, ErrServerError, cause)}
	case value == ErrUnknownOutcome && c.lost.of(cause) != nil:
		return &Error{op, path, fmt.Errorf("%w: %w: %w", value, c.lost.of(cause), cause)}
	}
	return &Error{op, path, fmt.Errorf("%w: %w", value, cause)}
}

// checkSize refuses a request that a server would cut the connection for.
func checkSize(op, path string, data []byte) error {
	if size := len(path) + len(data); size > maxRequest {
		return &Error{op, path, fmt.Errorf("%w: %d bytes of path and data, the limit is %d", ErrTooLarge, size, maxRequest)}
	}
	return nil
}
