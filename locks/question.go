package locks

import (
	"context"
	"fmt"

	"github.com/turnstile-locks/turnstile/actors/inspect"
	"github.com/turnstile-locks/turnstile/messages"
	"github.com/turnstile-locks/turnstile/zkconn"
)

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

// refused makes the error of a refusal; nil where there is none.
func refused(op, path string, why messages.Refusal) error {
	if why.Reason == messages.ReasonNone {
		return nil
	}
	err := sentinel(why.Reason, ErrFailed)
	if why.Detail == "" {
		return fmt.Errorf("turnstile: %s %s: %w", op, zkconn.Shown(path), err)
	}
	return fmt.Errorf("turnstile: %s %s: %w: %s", op, zkconn.Shown(path), err, why.Detail)
}
