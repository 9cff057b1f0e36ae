package locks

import (
	"context"
	"fmt"

	"github.com/turnstile-locks/turnstile/actors/inspect"
	"github.com/turnstile-locks/turnstile/messages"
	"github.com/turnstile-locks/turnstile/zkconn"
)

// Queue gives the contenders of a lock path: who holds, who waits and for whom, and the data
// of their nodes. Those of one queue are in the order in which they came; queues with names
// follow the one without. It is empty, without an error, where the lock path does not exist. At a
// contest's path it gives the holder, if there is one: waiters for a contest leave no trace.
//
// It shows the queue as it was after Queue was called. It takes a read for each contender, several
// at a time. Contenders that go away meanwhile are left out, and children that are no contenders are
// passed over. A contender whose data may not be read is shown as far as its name tells.
//
// Errors wrap the error of ctx, zkconn.ErrBadPath, zkconn.ErrNoAuth where the lock path itself may
// not be read, or ErrClosed.
func (c *Client) Queue(ctx context.Context, path string) ([]messages.Contender, error) {
	q, err := ask[*messages.Queue](ctx, c, "queue of", path, &messages.ReadQueue{Path: path})
	if err != nil {
		return nil, err
	}
	return q.Contenders, refused("queue of", path, q.Refusal)
}

// Missing gives the uppermost node of a path that does not exist: "" where the path exists, "/"
// where the chroot of the client is missing. The path may be "/". An empty Queue may be that of a
// free lock, whose path goes some time after its last contender, or of a path or a chroot that was
// mistyped. It returns the errors of Queue, and ErrNeedsSession over a gateway.
func (c *Client) Missing(ctx context.Context, path string) (string, error) {
	found, err := ask[*messages.MissingFound](ctx, c, "look for", path, &messages.FindMissing{Path: path})
	if err != nil {
		return "", err
	}
	return found.Missing, refused("look for", path, found.Refusal)
}

// Locks looks for the lock paths that have contenders, below a root and at it, and counts their
// holders and waiters. The root may be "/", for all that the client can see, but for
// ZooKeeper's own nodes in /zookeeper.
//
// A node is a lock path when the name of a child is a contender's. Contests are known by their
// data, so those of other programs are not found. Children with contenders' names are not looked
// into. It lists every other node below the root, several at a time, and stops after 100 000 of
// them: then the answer is Truncated. Nodes that may not be read are in Unread, and are no error.
// It returns the errors of Queue.
func (c *Client) Locks(ctx context.Context, root string) (*messages.LockTree, error) {
	tree, err := ask[*messages.LockTree](ctx, c, "locks below", root, &messages.ReadLocks{Root: root})
	if err != nil {
		return nil, err
	}
	return tree, refused("locks below", root, tree.Refusal)
}

// Revoke asks the holders of a lock to give it back: all readers, or all holders of a semaphore's
// permits. It writes a revoke request to their nodes. To the data of Turnstile's nodes it is added.
// Other libraries' data are replaced, by "__REVOKE__" where a node is Curator's, and by "unlock"
// otherwise, as ZooKeeper's recipe has it. It takes nothing away: holders of Turnstile's are told
// by Lease.Revoked, and those that were locked WithGrace are released when that is over; Curator's
// are told when they made themselves revocable; go-zookeeper's Lock and kazoo's do not listen.
// Waiters are left alone, and no node is made.
//
// It gives the contenders that were asked, as they were before. Queue still names them, and says
// that they were asked, where their nodes are Turnstile's; other libraries' nodes are overwritten.
// Deadlocks believes that holders that were asked give back their locks. Where nobody
// holds the error wraps ErrNotHolding. Where one of several may not be asked it wraps
// zkconn.ErrNoAuth, and the contenders given are the others. Otherwise it returns the errors of
// Queue.
func (c *Client) Revoke(ctx context.Context, path string) ([]messages.Contender, error) {
	return c.revoke(ctx, path, messages.Contender{})
}

// revoke asks the holders of a lock, or only the one that is given.
func (c *Client) revoke(ctx context.Context, path string, of messages.Contender) ([]messages.Contender, error) {
	const op = "revoke"
	query := &messages.SendRevokeRequest{Path: path, Of: of}
	a, err := ask[*messages.RevokeRequestSent](ctx, c, op, path, query)
	if err != nil {
		return nil, err
	}
	if err := refused(op, path, a.Refusal); err != nil {
		return a.Asked, err
	}
	if len(a.Asked) == 0 {
		return nil, fmt.Errorf("turnstile: %s %s: %w", op, zkconn.Shown(path), ErrNotHolding)
	}
	return a.Asked, nil
}

// Break deletes a contender's node by force. Queue gives the contender. Break deletes nobody else's
// node, even where another contender has come to the same path since, as in contests.
//
// It is for holders that hang while their session lives on. Ask first, with Revoke: that is kinder.
// A living Turnstile holder is told at once that it has lost the lock: its lease's context
// ends with ErrLost. Other libraries' holders do not notice. The next contender is let in at the
// same moment, and what the old holder has under way is not undone. Only a resource that checks
// fencing tokens is safe from that.
//
// A Turnstile waiter that is broken finds out within about a session timeout, and queues again
// at the end. The node of a contest is deleted together with its guard. Where the node does not name
// one, its holder is asked for the lock before it is broken, as by Revoke.
//
// The error wraps ErrGone where the node was gone before, zkconn.ErrBadPath or actors.ErrBadAcquire
// where the contender is not well formed or its token is not known, as where its node may not be
// read. It wraps zkconn.ErrNoAuth where the node may not be deleted. Otherwise it returns the
// errors of Queue.
func (c *Client) Break(ctx context.Context, contender messages.Contender) error {
	const op = "break"
	b, err := ask[*messages.Broken](ctx, c, op, contender.At(), &messages.Break{Contender: contender})
	if err != nil {
		return err
	}
	return refused(op, contender.At(), b.Refusal)
}

// Deadlocks looks for contenders below a root that wait for each other in a circle, across locks,
// sessions and processes. The root may be "/".
//
// Their nodes tell it: each names the caller that is blocked while it waits
// (messages.Contender.Who). A request made with the context of a lease, Lock(lease.Context()),
// belongs to the owner of that lease. Actors are told apart by messages.Acquire's Caller and Owner,
// or else by themselves. Other libraries' nodes do not say it, and holders that have been asked for
// the lock are believed to give it back. Waiters for a contest leave no trace. Calls
// that wait inside their client have no nodes: this client's are seen, others' are not. A node that
// another client shares names no owner.
//
// A waiter of a semaphore is part of a deadlock only if contenders that are part of it have so many
// permits that too few are left. Otherwise another holder's release lets it in.
//
// A deadlock that is reported was seen in two readings, 250 ms apart, so all of its nodes existed
// between them. Nodes that may not be read are passed over; Locks lists them.
//
// Anybody may write nodes that make up circles. So of requests that all wait for each other it tells at
// most 64 circles, those of the oldest first; the others come up when these have ended. It returns the
// errors of Queue.
func (c *Client) Deadlocks(ctx context.Context, root string) ([]messages.Deadlock, error) {
	sure, _, err := c.deadlocks(ctx, messages.FindDeadlocks{Root: root})
	return sure, err
}

// PossibleDeadlocks is Deadlocks that also gives the circles that are deadlocks if one waiting call
// blocks its whole process: a process that waits behind a lock that it holds, as when it is locked
// again without the context of its lease, and processes that wait for each other's locks. Nodes do
// not say which goroutine holds and which one waits. So a process with several workers may be well:
// look at how long the members have waited. Circles whose locks are passed on
// within 1.25 s are not among them, nor are calls without a node, or one process that waits for
// more permits of a semaphore. Use it when something does not move; it takes 1.25 s longer where it finds something.
// It returns the errors of Queue.
func (c *Client) PossibleDeadlocks(ctx context.Context, root string) (sure, possible []messages.Deadlock, err error) {
	return c.deadlocks(ctx, messages.FindDeadlocks{Root: root, Possible: true})
}

func (c *Client) deadlocks(ctx context.Context, q messages.FindDeadlocks,
) (sure, possible []messages.Deadlock, err error) {
	const op = "deadlocks below"
	found, err := ask[*messages.DeadlocksFound](ctx, c, op, q.Root, &q)
	if err != nil {
		return nil, nil, err
	}
	return found.Deadlocks, found.Possible, refused(op, q.Root, found.Refusal)
}

// ask sends a query to the session and waits for the answer.
func ask[Answer any](ctx context.Context, c *Client, op, path string, query any) (answer Answer, err error) {
	refuse := func(err error) (Answer, error) {
		return answer, fmt.Errorf("turnstile: %s %s: %w", op, zkconn.Shown(path), err)
	}
	if err := inspect.Check(query); err != nil {
		return refuse(err)
	}
	if err := c.enter(ctx); err != nil {
		return refuse(err)
	}
	defer c.requests.Done()
	got, err := c.session.Ask(ctx, query)
	if ctx.Err() != nil && err != nil {
		return refuse(c.session.Explain(ended(ctx)))
	}
	if err != nil {
		return refuse(err)
	}
	answer, ok := got.(Answer)
	if !ok {
		return refuse(fmt.Errorf("%w: the session answers with %T", ErrFailed, got))
	}
	return answer, nil
}

// refused makes an error of a refusal; nil where nothing was refused.
func refused(op, path string, why messages.Refusal) error {
	if why.Reason == messages.ReasonNone {
		return nil
	}
	err := sentinel(why.Reason)
	if why.Detail == "" {
		return fmt.Errorf("turnstile: %s %s: %w", op, zkconn.Shown(path), err)
	}
	return fmt.Errorf("turnstile: %s %s: %w: %s", op, zkconn.Shown(path), err, zkconn.Shown(oneLine(why.Detail)))
}
