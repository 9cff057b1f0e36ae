package matrix

import (
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/turnstile-locks/turnstile/locks"
	"github.com/turnstile-locks/turnstile/zkconn/embedded"
)

// scene is a subject whose request a fault is about to meet, and those before it and behind it.
type scene struct {
	*world
	cell    cell
	subject *player
	front   *player // holds the lock, and is waited for; nil where the subject is the first
	next    *player // waits behind the subject, from the beginning or later
	aim     embedded.Fault
	trigger func(t *testing.T) // has the subject send the request
	unlock  chan error         // what Unlock returned, once it was called
	swap    *swap              // what the subject connects through; nil where it is nothing
}

// open brings everybody to where the request is the next thing that the subject sends.
func open(t *testing.T, c cell) *scene {
	t.Helper()
	replicas := max(c.at.replicas, 1)
	w := newWorld(t, replicas)
	connect := w.server.Connect()
	if c.at.subject != nil {
		connect = c.at.subject(w.server)
	}
	s := &scene{world: w, cell: c, unlock: make(chan error, 1)}
	others := w.server.Addr()
	if c.at.replicas > 1 {
		others = w.server.Connect()
	}
	s.front, s.next = w.join(t, others), w.join(t, others)
	var through []locks.Option
	if c.at.dial != nil {
		through = append(through, c.at.dial(s))
	}
	s.subject = w.join(t, connect, through...)
	if c.at.ready != nil {
		c.at.ready(s)
	}
	prepare[c.request](t, s)
	synctest.Wait() // until all that was asked for so far is answered
	s.aim.Session = s.subject.session()
	return s
}

// prepare sets the scene of each request.
var prepare = map[Request]func(t *testing.T, s *scene){
	create: func(t *testing.T, s *scene) {
		s.warm(t)
		s.front = nil
		s.aim = embedded.Fault{Op: embedded.OpMulti, Path: lockPath + "/*-lock-"}
		s.trigger = s.subject.ask
	},
	list: func(t *testing.T, s *scene) {
		s.warm(t)
		s.front.hold(t)
		s.aim = embedded.Fault{Op: embedded.OpGetChildren2, Path: lockPath}
		s.trigger = s.subject.ask
	},
	watch: func(t *testing.T, s *scene) {
		s.warm(t)
		s.front.hold(t)
		s.aim = embedded.Fault{Op: embedded.OpGetData, Path: lockPath + "/*-lock-*"}
		s.trigger = s.subject.ask
	},
	syncing: func(t *testing.T, s *scene) { // asked for when the reply to a create was lost
		s.warm(t)
		s.front = nil
		s.aim = embedded.Fault{Op: embedded.OpSync, Path: lockPath}
		s.trigger = func(t *testing.T) {
			_, err := s.server.Inject(embedded.Fault{Op: embedded.OpMulti, Path: lockPath + "/*-lock-",
				Session: s.subject.session(), Action: embedded.CutAfter})
			require.NoError(t, err)
			s.subject.ask(t)
		}
	},
	verify: func(t *testing.T, s *scene) { // the heartbeat of a holder
		s.holding(t)
		s.aim = embedded.Fault{Op: embedded.OpMulti, Path: lockPath + "/*-lock-??????????"}
		s.trigger = func(*testing.T) {}
	},
	remove: func(t *testing.T, s *scene) {
		s.holding(t)
		s.aim = embedded.Fault{Op: embedded.OpDelete, Path: lockPath + "/*"}
		s.trigger = s.giveBack
	},
	ping: func(t *testing.T, s *scene) { // the library's own, of a holder
		s.holding(t)
		s.aim = embedded.Fault{Op: embedded.OpPing}
		s.trigger = func(*testing.T) {}
	},
}

// warm has the subject's session know the lock path, so that the next create is the contender's own.
func (s *scene) warm(t *testing.T) {
	t.Helper()
	lease, err := s.subject.client.Mutex(lockPath).Lock(patient(t))
	require.NoError(t, err)
	require.NoError(t, lease.Unlock(patient(t)))
}

// holding has the subject hold, and the next wait behind it unless it comes later.
func (s *scene) holding(t *testing.T) {
	t.Helper()
	s.front = nil
	s.subject.hold(t)
	if !s.cell.at.alone {
		s.next.wait(t)
	}
}

// giveBack calls Unlock on a goroutine.
func (s *scene) giveBack(t *testing.T) {
	t.Helper()
	ctx, lease := patient(t), s.subject.lease
	go func() { s.unlock <- lease.Unlock(ctx) }()
}

// meet has the request sent, and the action happen to it.
func (s *scene) meet(t *testing.T, action embedded.Action) *embedded.Injection {
	t.Helper()
	fault := s.aim
	fault.Action = action
	injection, err := s.server.Inject(fault)
	require.NoError(t, err)
	s.trigger(t)
	require.NoError(t, injection.Wait(patient(t)))
	return injection
}

// freeze has the request carried out, and keeps all that the server would say to the subject until thaw.
func (s *scene) freeze(t *testing.T) (thaw func()) {
	t.Helper()
	return s.meet(t, embedded.HoldReplies).Release
}

// freezeEarly keeps all that the server would say to the subject, from its next heartbeat on, and then has the
// request sent.
func (s *scene) freezeEarly(t *testing.T, meanwhile func()) (thaw func()) {
	t.Helper()
	injection, err := s.server.Inject(embedded.Fault{Session: s.subject.session(), Action: embedded.HoldReplies})
	require.NoError(t, err)
	require.NoError(t, injection.Wait(patient(t)))
	meanwhile()
	s.trigger(t)
	time.Sleep(10 * time.Millisecond) // the request is on its way, by the bubble's clock
	return injection.Release
}
