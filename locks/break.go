package locks

import (
	"context"

	"github.com/turnstile-locks/turnstile/messages"
)

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
// at the end. The holder of a contest is asked for the lock before it is broken, as by Revoke.
//
// The error wraps ErrGone where the node was gone before, zkconn.ErrBadPath or actors.ErrBadAcquire
// where the contender is not well formed or its token is not known, as where its node may not be read.
// It wraps zkconn.ErrNoAuth where the node may not be deleted. Otherwise errors are those of Queue.
func (c *Client) Break(ctx context.Context, contender messages.Contender) error {
	const op = "break"
	b, err := ask[*messages.Broken](ctx, c, op, contender.At(), &messages.Break{Contender: contender})
	if err != nil {
		return err
	}
	return refused(op, contender.At(), b.Refusal)
}
