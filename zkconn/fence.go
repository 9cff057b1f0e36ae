package zkconn

import (
	"errors"
	"fmt"
)

// Guard is a node that every Txn checks before anything else.
type Guard struct {
	// Path is the path of the node. It must never come back: a sequence number or a GUID in its
	// name sees to that.
	Path string
	// Version is the version that the node must have; -1 for any, which cannot be fenced.
	Version int32
}

// The refusals of a guard. Nothing was done.
var (
	// ErrGuardGone: the node that guards a transaction does not exist.
	ErrGuardGone = fmt.Errorf("the guarding node is gone: %w", ErrNoNode)
	// ErrGuardChanged: the node that guards a transaction has another version: somebody, or a
	// Fence, has written to it. Read its version, and send the transaction again. It does not wrap
	// ErrBadVersion, which is of an op.
	ErrGuardChanged = errors.New("the guarding node has another version")
)

// Fence ends the doubt about every Txn that this session has sent with guard: when it returns nil,
// each has been carried out, or never will be. Later reads of this Conn show which.
//
// A holds with node 7 in version 0. The reply to its Txn is lost with the connection: the Txn may
// still be at that server. Transactions on the next connection do not stop it: the old server may
// hold a connect request that A has given up, and when the leader hears of that, it carries out
// what A had sent before. Only the end of the session stops it, or a check in it that can never
// succeed again. So Fence writes node 7's own data again, in the version that it has read, until
// the version is above guard's. The Txn checks version 0: it comes before that write, or is
// refused. A server that shows version 1 has applied all that came before; on a later connection,
// servers that know less refuse this client. No write of others there is lost. Watches fire.
//
// now is the guard of later transactions. Its path is empty where the node is gone, as a committed
// transaction has confirmed: that fences as well. After any error nothing is certain: ErrNoAuth
// where the session may not READ or WRITE the node, ErrBadConfig for a guard of any version. After
// an unknown outcome call it again.
func (c *Conn) Fence(guard Guard) (now Guard, err error) {
	if guard.Version < 0 {
		return Guard{}, &Error{"fence", guard.Path, fmt.Errorf("%w: a guard of any version is no fence", ErrBadConfig)}
	}
	for {
		data, stat, err := c.Get(guard.Path)
		switch {
		case errors.Is(err, ErrNoNode): // a server that lags may say so
			if err = c.Heartbeat(guard.Path); errors.Is(err, ErrNoNode) {
				return Guard{}, nil
			}
		case err == nil && stat.Version > guard.Version:
			return Guard{guard.Path, stat.Version}, nil
		case err == nil:
			err = c.SetDataAt(guard.Path, data, stat.Version)
		}
		if err != nil && !errors.Is(err, ErrNoNode) && !errors.Is(err, ErrBadVersion) {
			return Guard{}, err
		}
	}
}
