package sharing

import (
	"context"

	"github.com/turnstile-locks/turnstile/actors"
	"github.com/turnstile-locks/turnstile/actors/internal/figures"
	"github.com/turnstile-locks/turnstile/messages"
	"github.com/turnstile-locks/turnstile/zkconn"
)

// sessionOf is the session of a source, if it is one: what it can do besides.
type sessionOf struct {
	session *actors.Session  // nil for another source
	figures *figures.Figures // of the session; nil for none
}

func newSessionOf(from Source) sessionOf {
	session, _ := from.(*actors.Session)
	if session == nil {
		return sessionOf{}
	}
	return sessionOf{session: session, figures: session.Figures()}
}

// maxWaiting is the bound of actors.WithMaxWaiting; zero for the usual one.
func (s sessionOf) maxWaiting() int {
	if s.session == nil {
		return 0
	}
	return s.session.MaxWaiting()
}

// attach has the session ask for the calls inside.
func (s sessionOf) attach(c *Calls) {
	if s.session != nil {
		s.session.AskInside(c)
	}
}

// whyOver says why a lease is over, as far as is known.
func (s sessionOf) whyOver(clock *zkconn.LeaseClock) messages.Reason {
	switch {
	case s.session != nil && s.session.Err() != nil:
		return messages.ReasonSessionClosed
	case clock.Expired():
		return messages.ReasonSessionExpired
	}
	return messages.ReasonLeaseOver
}

// ask asks the session a query.
func (s sessionOf) ask(ctx context.Context, query any) (any, error) { return s.session.Ask(ctx, query) }
