package locks

import (
	"context"

	"github.com/turnstile-locks/turnstile/messages"
)

// Break deletes a contender's node by force, one that Queue has given. Nobody else's is deleted, also where
// another has come to the same path since, as in contests.
//
// It is for holders that hang while their session lives on. A holder of Turnstile's that is alive is told at once
// that it has lost the lock: its lease's context ends with ErrLost. But the next one is let in at the same moment,
// and what the first has under way by then is not undone: only a resource that looks at fencing tokens is safe from
// that. Other libraries' holders do not notice at all. To ask first is kinder: Revoke. A waiter of Turnstile's that
// is broken finds out within about a session timeout, and queues again at the end. The holder of a contest is
// asked for the lock before it is broken, as by Revoke.
//
// Where the node was gone before the error wraps ErrGone. It wraps zkconn.ErrBadPath or actors.ErrBadAcquire where
// the contender is none, and zkconn.ErrNoAuth where the node may not be deleted. Otherwise errors are those of Queue.
func (c *Client) Break(ctx context.Context, contender messages.Contender) error {
	const op = "break"
	b, err := ask[*messages.Broken](ctx, c, op, contender.At(), &messages.Break{Contender: contender})
	if err != nil {
		return err
	}
	return refused(op, contender.At(), b.Refusal)
}
