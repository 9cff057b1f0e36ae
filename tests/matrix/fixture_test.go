package matrix

import (
	"errors"
	"testing"
	"testing/synctest"
	"time"

	"github.com/go-zookeeper/zk"
	"github.com/google/uuid"
	"github.com/stretchr/testify/require"

	"github.com/turnstile-locks/turnstile/actors/queue"
	"github.com/turnstile-locks/turnstile/locks"
	"github.com/turnstile-locks/turnstile/tests/scene"
	"github.com/turnstile-locks/turnstile/zkconn/embedded"
)

// fixture is a subject whose request a fault is about to meet, and those before it and behind it.
type fixture struct {
	*world
	cell    cell
	subject *player
	front   *player      // holds the lock, and is waited for; nil where the subject is the first
	beside  *locks.Lease // is held beside them, until the subject holds or has ended; nil for none
	next    *player      // waits behind the subject, from the beginning or later
	aim     embedded.Fault
	trigger func(t *testing.T) // has the subject send the request
	unlock  chan error         // what Unlock returned, once it was called
}

// open brings everybody to where the request is the next thing that the subject sends.
func open(t *testing.T, c cell) *fixture {
	t.Helper()
	replicas := max(c.at.replicas, 1)
	w := newWorld(t, replicas)
	connect := w.server.Connect()
	if c.at.subject != nil {
		connect = c.at.subject(w.server)
	}
	s := &fixture{world: w, cell: c, unlock: make(chan error, 1)}
	others := w.server.Addr()
	if c.at.replicas > 1 {
		others = w.server.Connect()
	}
	r := c.recipe
	s.front, s.next = w.join(t, r.ahead, others), w.join(t, r.behind, others)
	var through []locks.Option
	if c.at.dial != nil {
		through = append(through, c.at.dial(s))
	}
	s.subject = w.join(t, r.subject, connect, through...)
	if c.at.ready != nil {
		c.at.ready(s)
	}
	s.prepare(t)
	synctest.Wait() // until all that was asked for so far is answered
	s.aim.Session = s.subject.session()
	return s
}

// prepare sets the scene of a request.
func (s *fixture) prepare(t *testing.T) {
	t.Helper()
	r := s.cell.recipe
	aim, sends := r.aims[s.cell.request]
	require.True(t, sends, "%s does not send %s", r.name, s.cell.request)
	s.trigger = func(*testing.T) {}
	switch s.cell.request {
	case create:
		s.warm(t)
		s.front = nil
		s.trigger = s.subject.ask
	case list, watch, permits, permitsWatch:
		s.warm(t)
		if s.cell.request == list { // so that the queue is listed by itself, and not behind the create
			var planted []string // so many in another queue that a session that has listed it does not list it behind its next create
			for range 17 {
				prefix := queue.Style{Name: "crowd"}.Prefix(uuid.NewString())
				made, err := s.operator.Create(lockPath+"/"+prefix, nil, zk.FlagSequence, zk.WorldACL(zk.PermAll))
				require.NoError(t, err)
				planted = append(planted, made)
			}
			s.warm(t)
			for _, path := range planted {
				require.NoError(t, s.operator.Delete(path, -1))
			}
		}
		s.front.hold(t)
		synctest.Wait() // until it has told that it holds
		s.trigger = s.subject.ask
	case frontWatch: // two hold one permit each
		s.warm(t)
		s.front = newPlayer(t, s.front.client, r.subject)
		s.front.hold(t)
		s.beside = scene.Locked(t, r.subject(s.front.client).Lock)
		s.trigger = s.subject.ask
	case syncing: // asked for when the reply to a create was lost
		s.warm(t)
		s.front = nil
		s.trigger = func(t *testing.T) {
			made := r.aims[create]
			made.Session, made.Action = s.subject.session(), embedded.CutAfter
			s.inject(t, made)
			s.subject.ask(t)
		}
	case remove:
		s.holding(t)
		s.trigger = s.giveBack
	case moveUp: // the one before lets the subject in
		s.warm(t)
		before := s.front.hold(t)
		synctest.Wait()
		s.front = nil
		s.subject.wait(t)
		if !s.cell.at.alone {
			s.next.wait(t)
		}
		s.trigger = func(t *testing.T) { scene.GiveBack(t, before) }
	case verify, ping: // a holder sends them by itself
		s.holding(t)
	default:
		t.Fatalf("nothing sets the scene of %s", s.cell.request)
	}
	s.aim = aim
}

// warm has the subject's session know the lock path, so that the next create is the contender's own.
func (s *fixture) warm(t *testing.T) {
	t.Helper()
	r := s.cell.recipe
	if r.around != nil {
		s.beside = scene.Locked(t, r.around(s.subject.client).Lock)
		s.subject.within = s.beside.Context()
		return
	}
	scene.GiveBack(t, scene.Locked(t, r.subject(s.subject.client).Lock))
	synctest.Wait() // its watch of its own node may come late, and then stays with the next node of that name
}

// leaveBeside gives back what is held beside the subject.
func (s *fixture) leaveBeside(t *testing.T) {
	t.Helper()
	if s.beside != nil {
		if err := s.beside.Unlock(scene.Deadline(t)); !errors.Is(err, locks.ErrLost) {
			require.NoError(t, err)
		}
		s.beside = nil
	}
}

// holding has the subject hold, and the next wait behind it unless it comes later.
func (s *fixture) holding(t *testing.T) {
	t.Helper()
	s.front = nil
	if s.cell.recipe.around != nil {
		s.warm(t)
	}
	s.subject.hold(t)
	s.leaveBeside(t)
	if !s.cell.at.alone {
		s.next.wait(t)
	}
}

// giveBack calls Unlock on a goroutine.
func (s *fixture) giveBack(t *testing.T) {
	t.Helper()
	ctx, lease := scene.Deadline(t), s.subject.lease
	go func() { s.unlock <- unlock(ctx, lease) }()
}

// meet has the request sent, and the action happen to it.
func (s *fixture) meet(t *testing.T, action embedded.Action) *embedded.Injection {
	t.Helper()
	fault := s.aim
	fault.Action = action
	injection := s.inject(t, fault)
	s.trigger(t)
	require.NoError(t, injection.Wait(scene.Deadline(t)))
	return injection
}

// freeze has the request carried out, and keeps all that the server would say to the subject until thaw.
func (s *fixture) freeze(t *testing.T) (thaw func()) {
	t.Helper()
	return s.meet(t, embedded.HoldReplies).Release
}

// freezeEarly keeps all that the server would say to the subject, from its next heartbeat on, and then has the
// request sent.
func (s *fixture) freezeEarly(t *testing.T, meanwhile func()) (thaw func()) {
	t.Helper()
	injection := s.inject(t, embedded.Fault{Session: s.subject.session(), Action: embedded.HoldReplies})
	require.NoError(t, injection.Wait(scene.Deadline(t)))
	meanwhile()
	s.trigger(t)
	time.Sleep(10 * time.Millisecond) // the request is on its way, by the bubble's clock
	return injection.Release
}
