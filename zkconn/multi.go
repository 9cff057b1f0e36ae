package zkconn

import (
	"fmt"

	"github.com/go-zookeeper/zk"
)

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
		results, err = judgeTransaction(results, err, len(parts))
		return err
	})
	return results, err
}

// judgeTransaction finds the first real error, which the library may give for the whole, for parts, or both.
func judgeTransaction(results []zk.MultiResponse, err error, parts int) ([]zk.MultiResponse, error) {
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
