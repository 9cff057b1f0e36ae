package locks

import (
	"context"
	"errors"

	"github.com/turnstile-locks/turnstile/messages"
)

// ErrDeadlock: the request was part of a deadlock, and gave up.
var ErrDeadlock = errors.New("turnstile: deadlock")

// DeadlockError is the ErrDeadlock that says who waited for whom. It is found by errors.As.
type DeadlockError struct {
	Deadlock messages.Deadlock
}

// Error tells the whole circle.
func (e *DeadlockError) Error() string { return ErrDeadlock.Error() + ": " + e.Deadlock.String() }

// Unwrap gives ErrDeadlock.
func (e *DeadlockError) Unwrap() error { return ErrDeadlock }

// Deadlocks looks for contenders below a root that wait for each other in a circle, across locks,
// sessions and processes. The root may be "/".
//
// That they do is seen from what their nodes say of who stands still while they wait: messages.Contender.Who. A
// request made with the context of a lease, Lock(lease.Context()), belongs to whoever has that lease. Actors are told
// apart by messages.Acquire's Caller and Owner, or else by themselves. Other libraries' nodes do not say it, and
// holders that have been asked for the lock are believed to give back what they
// have. Those who wait for a contest leave no trace. Those who wait in a cohort have no nodes: of this client they are
// seen, of others not. Where a node takes part that another client passes on in a cohort the second reading is 1.25 s
// after the first, because the node may still name whoever had it before.
//
// A waiter of a semaphore is part of a deadlock only if contenders that are part of it have so many
// permits that too few are left. Otherwise another holder's release lets it in.
//
// A deadlock that is reported was seen in two readings, 250 ms apart, so all of its nodes existed
// between them. One of them may be a node that a client WithSticky retains and nobody holds: nodes
// do not say so. Its client deletes it when somebody waits for it, which takes less than these 250
// ms unless that client is cut off or paused. Nodes that this client retains are known and left
// out. What may not be read is passed over; Locks tells what that is. Errors are those of Queue.
func (c *Client) Deadlocks(ctx context.Context, root string) ([]messages.Deadlock, error) {
	sure, _, err := c.deadlocks(ctx, messages.FindDeadlocks{Root: root})
	return sure, err
}

// PossibleDeadlocks is Deadlocks that also gives the circles that are deadlocks if processes stand still as a whole: a
// process that waits behind a lock that it holds, as when it is locked again without the context of its lease, and
// processes that hold what the others wait for. Nodes do not say which goroutine holds and which one waits, so that
// in a process with several workers both may be well: look at for how long the members have waited. What is passed on
// within 1.25 s is not among them, nor are those that wait in a cohort, or in one process for more permits of a
// semaphore. Use it when something does not move; it takes 1.25 s longer where it finds something. Errors are those
// of Queue.
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
