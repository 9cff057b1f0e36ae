package actors

import (
	"slices"
	"sync"

	"github.com/turnstile-locks/turnstile/actors/internal/coordinator"
	"github.com/turnstile-locks/turnstile/actors/internal/mailbox"
	"github.com/turnstile-locks/turnstile/actors/machine"
	"github.com/turnstile-locks/turnstile/messages"
	"github.com/turnstile-locks/turnstile/zkconn/logkeys"
)

// TroubleListener is a Listener that is also told what keeps its request from being carried out though there are servers.
type TroubleListener interface {
	Listener
	// Troubled says it in words, such as "the server hangs up on create container /x, 5 times": at the second time and
	// each that follows, and "" when it is over.
	Troubled(text string)
}

// troubled tells a lock actor.
type troubled struct {
	mailbox.Quiet
	text string
}

func (l *lock) hearTrouble(text string) {
	l.trouble = text
	if listener, ok := l.listener.(TroubleListener); ok {
		listener.Troubled(text)
	}
}

// troubles are those of a session: what keeps which request from being carried out. The session actor notes them;
// anybody may look.
type troubles struct {
	mu  sync.Mutex
	all []trouble // the newest at the end
	// stuck: since the newest, no request has got a node.
	stuck bool
}

type trouble struct {
	of   coordinator.RequestID
	text string
}

// ofSession is a trouble of no request in particular, but of the session, for as long as that lasts.
const ofSession coordinator.RequestID = 0

// note takes what keeps a request from being carried out; "" for nothing any more, also because it has ended.
func (t *troubles) note(of coordinator.RequestID, text string) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.all = slices.DeleteFunc(t.all, func(have trouble) bool { return have.of == of })
	if text != "" {
		t.all = append(t.all, trouble{of, text})
	}
	t.stuck = len(t.all) > 0 && (t.stuck || text != "")
}

// carriedOut: a request has got a node.
func (t *troubles) carriedOut() {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.stuck = false
	t.all = slices.DeleteFunc(t.all, func(have trouble) bool { return have.of == ofSession }) // it has a node
}

func (t *troubles) look() (newest string, stuck bool) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if len(t.all) > 0 {
		newest = t.all[len(t.all)-1].text
	}
	return newest, t.stuck
}

// inTrouble tells a request, and the session, what keeps it from being carried out.
func (s *session) inTrouble(what *coordinator.Trouble) {
	s.troubles.note(what.To, what.Text)
	if lock := s.locks[what.To]; lock != nil {
		s.system.Root.Send(lock, &troubled{text: what.Text})
	}
	if what.Text != "" {
		s.log.Warn("a request is not carried out", s.logged(logkeys.Path, what.Path, logkeys.Error, what.Text)...)
	}
}

// noteTold takes note of what an event says of the servers.
func (s *session) noteTold(ev *machine.Event) {
	switch {
	case ev.Kind == machine.Created:
		s.troubles.carriedOut()
	case ev.Kind == machine.NotCreated && ev.Reason == messages.ReasonLocalSession:
		s.troubles.note(ofSession, string(ev.Reason)+", and cannot have a node")
	}
}
