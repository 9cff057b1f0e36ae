package locks

import (
	"context"

	"github.com/turnstile-locks/turnstile/messages"
)

// Queue gives the contenders of a lock path: who holds, who waits and for whom, and what their
// nodes tell of them. Those of one queue are in the order in which they came; queues with names
// follow the one without. It is empty, without an error, where the lock path does not exist. At a
// contest's path it gives the holder, if there is one: waiters for a contest leave no trace.
//
// It shows what was so after Queue was called. It takes a read for each contender, several at a
// time. Contenders that go away meanwhile are left out, and children that are no contenders are
// passed over. A contender whose data may not be read is shown with what its name tells.
//
// Errors wrap that of ctx, zkconn.ErrBadPath, zkconn.ErrNoAuth where the lock path itself may not be read, or
// ErrClosed.
func (c *Client) Queue(ctx context.Context, path string) ([]messages.Contender, error) {
	q, err := ask[*messages.Queue](ctx, c, "queue of", path, &messages.ReadQueue{Path: path})
	if err != nil {
		return nil, err
	}
	return q.Contenders, refused("queue of", path, q.Refusal)
}

// Missing tells whether a path exists at all: it gives the uppermost node on the way there that does not, "/" for the
// chroot of the client, and "" where the path exists. The path may be "/". An empty Queue may be that of a free lock,
// whose path goes some time after its last contender, or of a path or a chroot that was mistyped. Errors are those of
// Queue, and ErrNeedsSession over a gateway.
func (c *Client) Missing(ctx context.Context, path string) (string, error) {
	found, err := ask[*messages.MissingFound](ctx, c, "look for", path, &messages.FindMissing{Path: path})
	if err != nil {
		return "", err
	}
	return found.Missing, refused("look for", path, found.Refusal)
}

// Locks looks for the lock paths that have contenders, below a root and at it, and counts their holders and
// waiters. The root may be "/", for all that the client can see, without what ZooKeeper keeps in /zookeeper.
//
// A node is a lock path when the name of a child is a contender's. Contests are known by their
// data, so those of other programs are not found. Children with contenders' names are not looked
// into. It lists every other node below the root, several at a time, and stops after 100 000 of
// them: then the answer is Truncated. What may not be read is reported in Unread, and is no error.
// Errors are those of Queue.
func (c *Client) Locks(ctx context.Context, root string) (*messages.LockTree, error) {
	tree, err := ask[*messages.LockTree](ctx, c, "locks below", root, &messages.ReadLocks{Root: root})
	if err != nil {
		return nil, err
	}
	return tree, refused("locks below", root, tree.Refusal)
}
