package locks

import (
	"errors"
	"fmt"
	"time"

	"github.com/turnstile-locks/turnstile/zkconn/retry"
)

// candidacy decides how Election.Run goes on after a term: the next campaign, or the end of Run. It
// is pure: no clock, no context, no lock. Its stories are in testdata/candidacy.
//
// A term itself is Lease.run, which Do and RunOnce share: call the work, and say whether the lease
// ended before it returned. Actors have the same in events, because nothing of theirs may block:
// the machine of a singleton (actors/internal/singleton) campaigns again by rules of its own, since
// its child may fail and be restarted, and the guard of package activation never does.
type candidacy struct {
	// loss is the error of the last term, where its lease was lost. The error that ends Run wraps
	// it, too.
	loss error
}

// termEnd is the end of one campaign, and of the term that followed it, if it was won.
type termEnd struct {
	led  bool          // there was a term
	lost bool          // its lease was lost
	took time.Duration // both together
	most time.Duration // the longest pause
	err  error
	ctx  error // ctx.Err() of the caller's ctx; nil while it goes on
	gone error // the same with its cause
}

// sequel is the next step after the end of a term.
type sequel string

const (
	// runEnds: Run returns.
	runEnds sequel = "Run ends"
	// atOnce: it campaigns again without a pause.
	atOnce sequel = "again at once"
	// afterPause: after a pause that is longer than the one before.
	afterPause sequel = "again after a pause"
	// afterFirstPause: after the shortest pause, because the last one was long ago.
	afterFirstPause sequel = "again after the first pause"
)

// after gives the step after the end of a term, and the error of Run where that ends.
func (c *candidacy) after(t termEnd) (sequel, error) {
	if t.led {
		c.loss = nil
	}
	switch {
	case t.ctx != nil && (t.err == nil || errors.Is(t.err, t.ctx) || errors.Is(t.err, ErrLost)):
		return runEnds, afterLoss(lossOf(t.err, c.loss), t.gone)
	case t.err == nil || t.ctx != nil || !MayPass(t.err):
		return runEnds, afterLoss(c.loss, t.err)
	}
	c.loss = lossOf(t.err, c.loss)
	switch {
	case t.lost && t.took >= retry.Campaign.First: // otherwise the lead stays vacant, though nobody else campaigns
		return atOnce, nil
	case t.took > t.most:
		return afterFirstPause, nil
	}
	return afterPause, nil
}

// lossOf gives an error that says that a lease was lost, or else the loss of the term before.
func lossOf(err, last error) error {
	if errors.Is(err, ErrLost) {
		return err
	}
	return last
}

// afterLoss gives the error of a Run that ends after a loss, if there was one.
func afterLoss(loss, err error) error {
	switch {
	case loss == nil || err == nil || errors.Is(err, ErrLost):
		return err
	case errors.Is(loss, err): // each fact once
		return loss
	}
	return fmt.Errorf("%w; before that: %w", err, loss)
}
