package locks

import (
	"context"
	"errors"
	"fmt"

	"github.com/turnstile-locks/turnstile/messages"
	"github.com/turnstile-locks/turnstile/zkconn"
)

// ErrNotHolding: nobody holds the lock, so there was nobody to ask.
var ErrNotHolding = errors.New("turnstile: nobody holds the lock")

// Revoke asks whoever holds a lock to give it back: all readers, or all who have a semaphore's permits. It writes
// to their nodes: beside what Turnstile's nodes say, and in the place of what others say, "__REVOKE__" where a node
// is Curator's, and "unlock" otherwise, as ZooKeeper's recipe has it. It
// takes nothing away: holders of Turnstile's are told by Lease.Revoked, and those that were locked WithGrace are
// released when that is over; Curator's are told when they made themselves revocable; go-zookeeper's Lock and
// kazoo's do not listen. Waiters are left alone, and no node is made.
//
// It gives the contenders that were asked, as they were before. Who they are Queue goes on telling, besides that they
// were asked, where their nodes are Turnstile's; other libraries' are overwritten.
// Deadlocks believes of holders that were asked that they give back what they have. Where nobody holds the error
// wraps ErrNotHolding. Where one of several may not be asked it wraps zkconn.ErrNoAuth, and the contenders given are
// the others. Otherwise errors are those of Queue.
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
