package locks

import (
	"context"
	"fmt"

	"github.com/turnstile-locks/turnstile/actors/inspect"
	"github.com/turnstile-locks/turnstile/messages"
	"github.com/turnstile-locks/turnstile/zkconn"
)

// Queue gives the contenders of a lock path: who holds, who waits and for whom. Each queue is in
// order, those with names behind the one without. It is empty where the lock path does not exist. A
// contest shows its holder only: waiters leave no trace.
//
// It takes one read for each contender. Those that leave meanwhile are omitted. One whose data may
// not be read is shown as far as its name tells. Errors wrap the error of ctx, zkconn.ErrBadPath,
// zkconn.ErrNoAuth where the lock path may not be read, or ErrClosed.
func (c *Client) Queue(ctx context.Context, path string) ([]messages.Contender, error) {
	q, err := ask[*messages.Queue](ctx, c, "queue of", path, &messages.ReadQueue{Path: path})
	if err != nil {
		return nil, err
	}
	return q.Contenders, refused("queue of", path, q.Refusal)
}

// Missing gives the uppermost node of a path that does not exist: "" where the path exists, "/"
// where the client's chroot is missing. It tells a free lock from a mistyped path. The path may be
// "/". It returns the errors of Queue, and ErrNeedsSession over a gateway.
func (c *Client) Missing(ctx context.Context, path string) (string, error) {
	found, err := ask[*messages.MissingFound](ctx, c, "look for", path, &messages.FindMissing{Path: path})
	if err != nil {
		return "", err
	}
	return found.Missing, refused("look for", path, found.Refusal)
}

// Locks finds the lock paths that have contenders, at a root and below, and counts their holders
// and waiters. The root may be "/": all that the client can see, except /zookeeper.
//
// A node is a lock path when a child has a contender's name. Contests are known by their data, so
// other programs' are not found. It lists up to 100 000 nodes, without contenders; beyond, the
// answer is Truncated. Nodes that may not be read are in Unread. It returns the errors of Queue.
func (c *Client) Locks(ctx context.Context, root string) (*messages.LockTree, error) {
	tree, err := ask[*messages.LockTree](ctx, c, "locks below", root, &messages.ReadLocks{Root: root})
	if err != nil {
		return nil, err
	}
	return tree, refused("locks below", root, tree.Refusal)
}

// Revoke asks the holders of a lock to give it back: all readers, or all holders of a semaphore's
// permits. It adds a revoke request to the data of Turnstile's nodes, and overwrites others' data:
// with "__REVOKE__" in Curator's nodes, with "unlock", as in ZooKeeper's recipe, elsewhere.
// Turnstile's holders hear of it by Lease.Revoked, and are released when the time of WithGrace is
// over; Curator's hear of it if they are revocable; go-zookeeper's Lock and kazoo's do not listen.
//
// It gives the contenders that were asked. The error wraps ErrNotHolding where nobody holds, and
// zkconn.ErrNoAuth where some others may not be asked. Otherwise it returns the errors of Queue.
func (c *Client) Revoke(ctx context.Context, path string) ([]messages.Contender, error) {
	return c.revoke(ctx, path, messages.Contender{})
}

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

// Break deletes a contender's node, as Queue gives it, by force. A later contender at the same
// path, as in contests, is spared.
//
// It is for holders that hang while their session lives. First try Revoke. A Turnstile holder's
// context ends at once, with ErrLost; other libraries' holders do not notice. The next contender
// holds at once, and the old holder's work goes on: only a resource that checks fencing tokens is
// safe from it. A Turnstile waiter notices within about a session timeout, and queues again, if its
// options allow. A contest's node is deleted with its guard; where it names none, its holder is first
// asked, as by Revoke.
//
// The error wraps ErrGone where the node was gone before, zkconn.ErrBadPath or actors.ErrBadAcquire
// where the contender is not well formed or its token is not known (as where its node may not be
// read), and zkconn.ErrNoAuth where the node may not be deleted. Otherwise it returns the errors of
// Queue.
func (c *Client) Break(ctx context.Context, contender messages.Contender) error {
	const op = "break"
	b, err := ask[*messages.Broken](ctx, c, op, contender.At(), &messages.Break{Contender: contender})
	if err != nil {
		return err
	}
	return refused(op, contender.At(), b.Refusal)
}

// Deadlocks finds contenders below a root that wait for each other in a circle, across locks,
// sessions and processes. The root may be "/". It returns the errors of Queue.
//
// Each node names its caller, which is blocked while it waits (messages.Contender.Who). A request
// with a lease's context belongs to that lease's owner. Actors are told apart by messages.Acquire's
// Caller and Owner, or by themselves. What it cannot see: callers of other libraries' nodes, and of
// nodes that another client shares; waiters for a contest; calls without a node in other clients;
// nodes that may not be read. Holders that were asked for the lock are believed to give it back. A
// waiter of a semaphore is part of a deadlock only if other members have so many permits that too
// few are left.
//
// A deadlock is reported when two readings, 250 ms apart, show it: all of its nodes existed at one
// time. Of requests that all wait for each other it tells at most 64 circles, the oldest first;
// others come up when these have ended.
func (c *Client) Deadlocks(ctx context.Context, root string) ([]messages.Deadlock, error) {
	sure, _, err := c.deadlocks(ctx, messages.FindDeadlocks{Root: root})
	return sure, err
}

// PossibleDeadlocks also gives circles that are deadlocks only if a waiting call blocks its whole
// process: a process that waits for its own lock, without the context of its lease, and processes
// that wait for each other's locks. A process with several workers may be well: look at how long
// the members have waited. It leaves out circles whose locks are passed on within 1.25 s, calls
// without a node, and one process that waits for more permits of a semaphore. Use it when something
// does not move; it takes 1.25 s longer where it finds something.
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

func ask[Answer any](ctx context.Context, c *Client, op, path string, query any) (answer Answer, err error) {
	refuse := func(err error) (Answer, error) {
		return answer, fmt.Errorf("turnstile: %s %s: %w", op, zkconn.Shown(path), err)
	}
	if err := inspect.Check(query); err != nil {
		return refuse(err)
	}
	if err := c.enter(ctx, &c.requests); err != nil {
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
