package locks

import (
	"errors"
	"fmt"
)

// candidacy makes the error of Election.Run from those of campaigns and terms; package term says
// whether Run goes on. Pure. Its stories are in testdata/candidacy.
type candidacy struct {
	err error
	// loss is the error of the last term, if its lease was lost. Run's error wraps it.
	loss error
	// ended is ctx.Err() of the caller's ctx, gone the same with its cause; nil before that.
	ended, gone error
}

// begins notes the begin of a term: losses before it are past.
func (c *candidacy) begins() { c.loss = nil }

func (c *candidacy) passes() bool { return c.err != nil && MayPass(c.err) }

func (c *candidacy) goesOn() { c.loss, c.err = lossOf(c.err, c.loss), nil }

func (c *candidacy) result() error {
	if c.gone != nil && (c.err == nil || errors.Is(c.err, c.ended) || errors.Is(c.err, ErrLost)) {
		return afterLoss(lossOf(c.err, c.loss), c.gone)
	}
	return afterLoss(c.loss, c.err)
}

func lossOf(err, last error) error {
	if errors.Is(err, ErrLost) {
		return err
	}
	return last
}

func afterLoss(loss, err error) error {
	switch {
	case loss == nil || err == nil || errors.Is(err, ErrLost):
		return err
	case errors.Is(loss, err): // each fact once
		return loss
	}
	return fmt.Errorf("%w; before that: %w", err, loss)
}
