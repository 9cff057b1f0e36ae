package zkconn

import (
	"cmp"
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
	// Ctime is when it was made, Mtime when its data was last set, by the leader's wall clock, to
	// the millisecond.
	Ctime, Mtime time.Time
}

func newStat(s *zk.Stat) Stat {
	return Stat{
		Czxid: s.Czxid, Mzxid: s.Mzxid, Pzxid: s.Pzxid, EphemeralOwner: s.EphemeralOwner,
		Version: s.Version, NumChildren: s.NumChildren, DataLength: s.DataLength,
		Ctime: time.UnixMilli(s.Ctime), Mtime: time.UnixMilli(s.Mtime),
	}
}

// operate runs one operation on a node: it refuses what is wrong, and once the Conn is over, and
// wraps an error in an *Error. run gets the path at the server.
func (c *Conn) operate(op, path string, wrong error, run func(absolute string) error) error {
	if wrong == nil {
		wrong = c.gate.enter()
	}
	if wrong != nil {
		return &Error{op, path, wrong}
	}
	defer c.gate.leave()
	if err := run(c.cfg.chroot + path); err != nil {
		return c.failure(op, path, err)
	}
	return nil
}

func (c *Conn) failure(op, path string, cause error) error {
	return c.failureOf(anything, op, path, cause)
}

func (c *Conn) failureOf(what subject, op, path string, cause error) error {
	var done *Error
	if errors.As(cause, &done) {
		return cause
	}
	value, closed := answerTo(what, cause).value, c.gate.why()
	switch {
	case value == ErrUnavailable && closed != nil:
		value = closed // the library fails the requests in its queue with that error when it is closed
	case value == ErrUnknownOutcome:
		why := cmp.Or(closed, c.lost.of(cause))
		if _, answered := unnamedCode(cause); answered && closed == nil {
			why = ErrServerError
		}
		if why != nil {
			cause = fmt.Errorf("%w: %w", why, cause)
		}
	}
	return &Error{op, path, fmt.Errorf("%w: %w", value, cause)}
}

// checkSize refuses a request for which a server would cut the connection.
func checkSize(size int) error {
	if size > maxRequest {
		return fmt.Errorf("%w: %d bytes of paths and data, the limit is %d", ErrTooLarge, size, maxRequest)
	}
	return nil
}

// transaction is a request of several parts. Before its first create come only checks and deletes
// where it is sent with commit.
type transaction struct {
	conn *Conn
	// op and path name it in errors that no part is known for.
	op, path string
	wrong    error // with the part that path then names
	size     int
	first    string // what it creates first, at the server
	parts    []any
	paths    []string  // of each part, as the caller knows it
	asks     []subject // of each part
}

func (t *transaction) add(what subject, path string, size int, wrong error, part any) {
	const fields = 32 // of a part, more or less
	if t.size += fields + len(t.at(path)) + size; t.wrong == nil {
		if wrong = cmp.Or(wrong, checkSize(t.size)); wrong != nil {
			t.wrong, t.path = wrong, path
		}
	}
	t.parts, t.paths, t.asks = append(t.parts, part), append(t.paths, path), append(t.asks, what)
}

func (t *transaction) at(path string) string { return t.conn.cfg.chroot + path }

func (t *transaction) check(what subject, path string, version int32) {
	t.add(what, path, 0, CheckPath(path), &zk.CheckVersionRequest{Path: t.at(path), Version: version})
}

func (t *transaction) delete(path string, version int32) {
	t.add(anything, path, 0, CheckPath(path), &zk.DeleteRequest{Path: t.at(path), Version: version})
}

func (t *transaction) set(path string, data []byte, version int32) {
	t.add(anything, path, len(data), CheckPath(path), &zk.SetDataRequest{Path: t.at(path), Data: data, Version: version})
}

// create makes a node. wrong is what is wrong with its name.
func (t *transaction) create(path string, wrong error, data []byte, acl []ACL, flags int32) {
	size := len(data)
	for _, e := range acl {
		size += 12 + len(e.Scheme) + len(e.ID)
	}
	t.first = cmp.Or(t.first, t.at(path))
	t.add(anything, path, size, wrong, &zk.CreateRequest{Path: t.at(path), Data: data, Acl: acl, Flags: flags})
}

// commit is transact by itself. It also gives the czxid of what is created.
func (t *transaction) commit() (results []zk.MultiResponse, czxid int64, err error) {
	err = t.conn.operate(t.op, t.path, t.wrong, func(string) (err error) {
		if t.first == "" {
			results, err = t.conn.transact(t)
			return err
		}
		want := t.conn.wants.want(opCreate, t.first, nil)
		defer want.done()
		if results, err = t.conn.transact(t); err == nil {
			czxid, err = want.czxid(t.first)
		}
		return err
	})
	return results, czxid, err
}

// transact commits all parts or none. Results count only when err is nil: in the reply to a failed
// transaction the parts before the failing one look fine, and those behind it carry -2. The *Error
// of a refusal names the path of the part when the reply tells it. A throttled transaction is sent
// again.
func (c *Conn) transact(t *transaction) ([]zk.MultiResponse, error) {
	var results []zk.MultiResponse
	part := -1
	err := c.patiently(func() (err error) {
		results, err = c.zk.Multi(t.parts...)
		part, err = transactionResult(results, err, len(t.parts))
		return err
	})
	switch {
	case err == nil:
		return results, nil
	case part >= 0:
		return nil, c.failureOf(t.asks[part], t.op, t.paths[part], err)
	}
	return nil, c.failure(t.op, t.path, err)
}

// transactionResult finds the first real error, which the library may give for the whole, for
// parts, or both, and its part; -1 for unknown.
func transactionResult(results []zk.MultiResponse, err error, parts int) (int, error) {
	for i, result := range results[:min(len(results), parts)] {
		if result.Error != nil && !hasUnnamedCode(result.Error, codeRuntimeInconsistency) {
			return i, result.Error
		}
	}
	switch {
	case err != nil:
		return -1, err
	case len(results) != parts:
		return -1, fmt.Errorf("reply to a transaction of %d parts has %d", parts, len(results))
	}
	for i, result := range results {
		if result.Error != nil { // nothing but -2: not to be told from a success that was cut short
			return i, result.Error
		}
	}
	return -1, nil
}

// relative gives a path as the user knows it; unchanged for a node above the chroot.
func (c *Conn) relative(absolute string) string {
	if relative, inside := strings.CutPrefix(absolute, c.cfg.chroot); inside && relative != "" {
		return relative
	}
	return absolute
}

// A reachable server may give no result in three ways: it hangs up, says nothing, or puts the
// request off.

// patientPart is the part of a session timeout for which a throttled request is sent again here: so
// a heartbeat ends before the next is due, at T/6. Callers with more time retry themselves.
const patientPart = 12

// patiently sends a throttled request again after pauses of 20 to 500 ms, jittered by half, until
// the Conn is closed, or for a twelfth of the session timeout.
func (c *Conn) patiently(send func() error) error {
	err := send()
	if err == nil {
		return nil
	}
	end := time.Now().Add(c.SessionTimeout() / patientPart)
	for refusals := 1; hasUnnamedCode(err, codeThrottled); refusals++ {
		pause := retry.Throttled.Pause(refusals)
		if time.Now().Add(pause).After(end) || !c.pause(pause) {
			break
		}
		err = send()
	}
	return err
}

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
