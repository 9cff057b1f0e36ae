package zkconn

import (
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/go-zookeeper/zk"

	"github.com/turnstile-locks/turnstile/zkconn/retry"
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
	// Ctime is the time at which it was made, Mtime the time at which its data was last set, by the
	// wall clock of the servers' leader, to the millisecond.
	Ctime, Mtime time.Time
}

func newStat(s *zk.Stat) Stat {
	return Stat{
		Czxid: s.Czxid, Mzxid: s.Mzxid, Pzxid: s.Pzxid, EphemeralOwner: s.EphemeralOwner,
		Version: s.Version, NumChildren: s.NumChildren, DataLength: s.DataLength,
		Ctime: time.UnixMilli(s.Ctime), Mtime: time.UnixMilli(s.Mtime),
	}
}

// operate runs one operation on a node: it checks the path, lets nothing in once the Conn is over,
// and wraps an error in an *Error. run gets the path at the server.
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

// failure makes an *Error of an error of the library; an error that is an *Error already is not
// changed.
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
		// The library fails the requests in its queue with this error when it is closed.
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

// partError is the refusal of a transaction, and the part that it was refused for.
type partError struct {
	part  int
	cause error
}

func (e *partError) Error() string { return fmt.Sprintf("part %d: %v", e.part, e.cause) }
func (e *partError) Unwrap() error { return e.cause }

// transact commits all parts or none. Its results are good for something only when err is nil: in the reply to a
// transaction that failed, the parts before the failing one look fine though nothing was done, and those behind it
// carry -2. A refusal is a *partError when the reply tells the part. A transaction that is put off is sent again.
func (c *Conn) transact(parts ...any) ([]zk.MultiResponse, error) {
	var results []zk.MultiResponse
	err := c.patiently(func() (err error) {
		results, err = c.zk.Multi(parts...)
		results, err = transactionResult(results, err, len(parts))
		return err
	})
	return results, err
}

// transactionResult finds the first real error, which the library may give for the whole, for parts, or both.
func transactionResult(results []zk.MultiResponse, err error, parts int) ([]zk.MultiResponse, error) {
	for i, result := range results {
		if result.Error != nil && !hasUnnamedCode(result.Error, codeRuntimeInconsistency) {
			return nil, &partError{part: i, cause: result.Error}
		}
	}
	switch {
	case err != nil:
		return nil, err
	case len(results) != parts:
		return nil, fmt.Errorf("reply to a transaction of %d parts has %d", parts, len(results))
	}
	for i, result := range results {
		if result.Error != nil { // nothing but -2: not to be told from a success that was cut short
			return nil, &partError{part: i, cause: result.Error}
		}
	}
	return results, nil
}

// relative gives a path as the user knows it. A node above the chroot has no such path: it keeps its own.
func (c *Conn) relative(absolute string) string {
	if relative, inside := strings.CutPrefix(absolute, c.cfg.chroot); inside && relative != "" {
		return relative
	}
	return absolute
}

// A server that is reached may give no result in three ways: it hangs up on the request, says nothing, or puts it off.

// patientPart is the part of a session timeout for which a throttled request is sent again here. A heartbeat so ends
// before the next is due, at T/6. A caller with more time retries, with pauses of its own.
const patientPart = 12

// patiently sends a throttled request again, which was not carried out: after pauses of 20 to 500 ms, jittered by half.
// No more is sent once the Conn is closed, or after a twelfth of the session timeout.
func (c *Conn) patiently(send func() error) error {
	err := send()
	if !throttled(err) {
		return err
	}
	end := time.Now().Add(c.SessionTimeout() / patientPart)
	for refusals := 1; throttled(err); refusals++ {
		pause := retry.Throttled.Pause(refusals)
		if time.Now().Add(pause).After(end) || !c.pause(pause) {
			break
		}
		err = send()
	}
	return err
}

func throttled(err error) bool { return err != nil && classify(err) == ErrThrottled }

// pause waits; it reports whether the Conn is still open.
func (c *Conn) pause(d time.Duration) bool {
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-timer.C:
		return true
	case <-c.gate.shut:
		return false
	}
}
