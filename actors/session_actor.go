package actors

import (
	"encoding/binary"
	"errors"
	"fmt"
	"path"
	"time"

	"github.com/asynkron/protoactor-go/actor"
	"github.com/google/uuid"

	"github.com/turnstile-locks/turnstile/actors/internal/coordinator"
	"github.com/turnstile-locks/turnstile/actors/internal/figures"
	"github.com/turnstile-locks/turnstile/actors/internal/mailbox"
	"github.com/turnstile-locks/turnstile/actors/machine"
	"github.com/turnstile-locks/turnstile/actors/metering"
	"github.com/turnstile-locks/turnstile/messages"
	"github.com/turnstile-locks/turnstile/zkconn"
	"github.com/turnstile-locks/turnstile/zkconn/logkeys"
	"github.com/turnstile-locks/turnstile/zkconn/sessionfile"
	"github.com/turnstile-locks/turnstile/zkconn/told"
)

// StartSession spawns a session actor. It returns at once; Ready waits for the connection. The
// error wraps zkconn.ErrBadConfig for an option out of range or a refused session file, is
// ErrSessionFileInUse, or that of the spawn.
func StartSession(system *actor.ActorSystem, cfg zkconn.Config, opts ...SessionOption) (*Session, error) {
	s := &Session{
		system:  system,
		cfg:     cfg,
		opts:    sessionOptions{log: cfg.Logger(), meters: system.Config.MetricsProvider},
		ready:   make(chan struct{}),
		stopped: make(chan struct{}),
		ended:   make(chan struct{}),
		workers: mailbox.NewWorkers(),
		calls:   told.NewCalls(told.Most, nil),
	}
	for _, opt := range opts {
		if err := opt(&s.opts); err != nil {
			return nil, err
		}
	}
	if err := s.opts.heedEnvironment(); err != nil {
		return nil, err
	}
	var err error
	if s.figures, err = figures.New(s.opts.meters, s.opts.labels, s.leaseLeft); err != nil {
		return nil, err
	}
	if s.opts.sessionFile != "" {
		if s.file, err = sessionfile.Start(s.opts.sessionFile, cfg); err != nil {
			s.figures.End()
			return nil, err
		}
	}
	one := newSession(s) // the same where it is restarted: it has ended then
	props := actor.PropsFromProducer(func() actor.Actor { return one }, actor.WithMailbox(mailbox.NewSession(s.workers, ownMessage)))
	s.listened = actor.PropsFromProducer(func() actor.Actor { return &lock{session: s, m: machine.New(&unassigned)} }, actor.WithMailbox(mailbox.New))
	pid, err := system.Root.SpawnNamed(props, "turnstile-session-"+system.ProcessRegistry.NextId())
	if err != nil {
		s.figures.End()
		s.file.Close(true)
		return nil, fmt.Errorf("turnstile: spawning the session actor: %w", err)
	}
	s.pid = pid
	return s, nil
}

func newSession(handle *Session) *session {
	id := uuid.New() // tests choose those
	s := &session{
		Session: handle,
		log:     handle.opts.log,
		decides: coordinator.New(handle.opts.switchedOff, handle.cfg.SessionTimeout(), handle.bounds(),
			binary.BigEndian.Uint64(id[:8])^binary.BigEndian.Uint64(id[8:])),
		timers: map[uint64]*time.Timer{},
		others: map[string]int{},
		pauses: map[*time.Timer]struct{}{},

		followers: map[string]*actor.PID{},
	}
	s.queries = s.newDispatcher()
	return s
}

// Receive takes one message. A panic ends the session: an actor that lost its state must not go on.
func (s *session) Receive(ctx actor.Context) {
	defer func() {
		if r := recover(); r != nil {
			s.system.Root.Stop(s.self)
			told.LogPanic(s.log, "session actor panicked", r)
			s.fail(fmt.Errorf("%w: panic: %v", ErrSessionClosed, r))
		}
	}()
	switch msg := ctx.Message().(type) {
	case *actor.Started:
		if s.self = ctx.Self(); s.ending {
			s.system.Root.Stop(s.self)
			return
		}
		s.open(1)
	case *order:
		s.take(msg)
	case *queryDone:
		s.finish(msg)
	case *timerFired:
		if msg.epoch == s.info.epoch && !s.ending {
			delete(s.timers, msg.timer)
			s.apply(coordinator.Fired{Timer: msg.timer}, 0)
		}
	case *connectionEvent:
		if msg.Epoch == s.info.epoch && !s.ending {
			s.happened(msg.Event)
		}
	case lockEnded:
		s.troubles.note(msg.request, "")
		if !s.ending {
			s.apply(coordinator.Ended{Request: msg.request}, 0)
		}
	case *actor.Terminated:
		key := messages.IDOf(msg.Who).Key(s.system.ID)
		delete(s.followers, key)
		s.queries.Unfollow(key, "")
	case *messages.Follow:
		s.follow(ctx, *msg)
	case *messages.Unfollow:
		s.queries.Unfollow(messages.IDOf(ctx.Sender()).Key(s.system.ID), msg.Path)
	case *weighing:
		s.admit(msg)
	case *weighed:
		s.settle(msg)
	case *asked:
		s.queries.Ask(msg, msg.query, func(answer any) { msg.answer <- answer })
	case *withdrawn:
		s.queries.Withdraw(msg.asked)
	case *shutdown:
		s.farewell = msg.until
		s.fail(ErrSessionClosed)
	case *actor.Stopping, *actor.Restarting:
		s.end(ErrSessionClosed)
	case *actor.Stopped:
		for _, follower := range s.followers { // it keeps who watches it, also one that has ended
			mailbox.Unwatch(ctx, follower)
		}
		s.closeDown()
	default:
		s.queries.Ask(messages.IDOf(ctx.Sender()).Key(s.system.ID), msg, s.replyTo(ctx.Sender()))
	}
}

func (s *session) take(o *order) {
	if s.ending {
		if lock := s.registry.find(o.Request); lock != nil {
			s.tellClosed(lock)
		}
		return
	}
	if o.Effect.Do == machine.Create {
		if s.lapse.lapsed && s.lapse.timer == nil {
			s.replaceSoon(0)
		}
	}
	s.apply(&o.Order, 0)
	*o = order{}
	orders.Put(o)
}

func (s *session) logExpiry(cause error) {
	what := "session expired"
	if errors.Is(cause, zkconn.ErrOtherSession) {
		what += ": no lease can be kept on servers that begin another on a reconnect, as ClickHouse Keeper does"
	}
	s.log.Warn(what, s.logged(logkeys.Error, cause)...)
}

func (s *session) happened(ev zkconn.Event) {
	switch ev.Kind {
	case zkconn.Connected:
		s.up(ev)
	case zkconn.Disconnected:
		s.down(ev)
	case zkconn.Lapsed:
		s.lapsed(ev)
	case zkconn.Expired:
		s.interrupted(metering.CauseExpired)
		s.logExpiry(ev.Err)
		s.apply(coordinator.Expired{}, 0)
	case zkconn.AuthFailed:
		s.log.Error("authentication refused", s.logged(logkeys.Server, ev.Server, logkeys.Error, ev.Err)...)
		err := ev.Err
		if err == nil {
			err = zkconn.ErrAuthFailed
		}
		s.fail(err)
	default:
		s.queries.Changed(ev.Path, ev.Kind == zkconn.NodeChildrenChanged)
		change := coordinator.NodeDeleted
		switch ev.Kind {
		case zkconn.NodeDataChanged:
			change = coordinator.DataChanged
			s.queries.Changed(path.Dir(ev.Path), true)
		case zkconn.NodeChildrenChanged:
			change = coordinator.ChildrenChanged
		}
		s.apply(coordinator.Changed{Path: ev.Path, Change: change}, 0)
	}
}

func (s *session) up(ev zkconn.Event) {
	s.setInfo(&sessionInfo{epoch: s.info.epoch, session: ev.SessionID, timeout: ev.Timeout, clock: s.info.clock})
	s.log.Info("session connected", s.logged(logkeys.Server, ev.Server, logkeys.Timeout, ev.Timeout)...)
	s.become(Connected, ev.Server, 0)
	s.recordSession(ev)
	s.apply(coordinator.Connected{Timeout: ev.Timeout}, 0)
	s.queries.Connected()
}

func (s *session) down(ev zkconn.Event) {
	s.become(Disconnected, "", s.link.Silence())
	s.queries.Disconnected()
	s.interrupted(metering.CauseDisconnected)
	s.log.Warn("session disconnected", s.logged(logkeys.Server, ev.Server, logkeys.Error, ev.Err)...)
	s.apply(coordinator.Disconnected{}, 0)
	s.lapse.lost()
	if s.lapse.lapsed && s.decides.Wanted() {
		s.replaceSoon(s.info.timeout / lastWords)
	}
}

func (s *session) finish(d *queryDone) {
	switch {
	case d.panicked != nil:
		panic(d.panicked)
	case d.epoch != s.info.epoch: // its session is dead, and its nodes with it
		s.stale.Add(1)
	case d.then != nil:
		d.then()
	case !s.ending:
		if done, ok := d.reply.Answer.(*coordinator.Ack); ok && done.Outcome != coordinator.Unknown { // a heartbeat
			s.phase.answered()
			s.endPauseIfQuick(d.took)
		}
		s.apply(&d.reply, d.took)
	}
}
