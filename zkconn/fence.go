package zkconn

import (
	"errors"
	"fmt"
)

// Guard is a node that every Txn checks before anything else.
type Guard struct {
	// Path is the path of the node. It must never come back once the node is gone: a sequence number
	// or a GUID in its name sees to that.
	Path string
	// Version is the version that the node must have; -1 for any. A transaction with a guard of any
	// version cannot be fenced.
	Version int32
}

// The refusals of a guard. Nothing was done.
var (
	// ErrGuardGone: the node that guards a transaction does not exist.
	ErrGuardGone = fmt.Errorf("the guarding node is gone: %w", ErrNoNode)
	// ErrGuardChanged: the node that guards a transaction has another version. Somebody has written to
	// it, or a Fence has. Read its version, and send the transaction again. It does not wrap
	// ErrBadVersion, which is of an op.
	ErrGuardChanged = errors.New("the guarding node has another version")
)

// Fence sees to it that no Txn which this session has sent with guard is carried out any more. When
// it returns nil, each of them has been carried out, or never will be. Reads that this Conn sends
// from then on show which.
//
// A Txn whose reply was lost with its connection may still be at the server of that connection. A
// transaction that the session commits on a later connection does not stop it. The old server
// may also hold a connect request that the client has given up. When the leader hears of it, that
// server is the session's again, and the leader carries out what it had sent before. So only two
// things stop a request: the end of its session, or a check in it that can never succeed again.
//
// Fence makes the check of the guard one that cannot succeed. It writes the node's own data again, in
// the version that it has read, until the version is above guard's. So nothing that others write there
// is lost, and it does not matter who has raised the version. Watches of the node fire.
//
// Why later reads show what was carried out: a Txn with this guard comes before the write that
// raised the version, and a server applies transactions in order. A server that shows the new version
// has applied the Txn. On a later connection, servers that know less refuse this client.
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
