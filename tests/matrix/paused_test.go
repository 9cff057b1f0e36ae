//go:build linux

package matrix

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/turnstile-locks/turnstile/actors/actorstest"
	"github.com/turnstile-locks/turnstile/locks"
	"github.com/turnstile-locks/turnstile/messages"
	"github.com/turnstile-locks/turnstile/tests/relists"
	"github.com/turnstile-locks/turnstile/zkconn/embedded"
)

// brief is a session timeout that a test can wait for by the real clock, and that a stall of the machine does not use up.
const brief = 10 * time.Second

// The client's process is stopped when its request has been carried out and the reply is on its way, until the
// servers have ended its session and let somebody else in; then it goes on, with the reply.
var pausedCells = pausedRows(map[Request]string{
	create:  "the reply is of a session that is over: the request queues again, behind the one that came in between",
	list:    "the request queues again, behind the one that came in between",
	watch:   "the request queues again, behind the one that came in between",
	syncing: "the node went with its session: the request queues again, behind the one that came in between",
	verify:  "the lease is over at the first look, and Lost is told, whatever the reply says",
	remove:  "the node is gone: success",
	ping:    "the lease is over at the first look, and Lost is told, whatever the reply says",
})

func pausedRows(outcomes map[Request]string) (all []cell) {
	for _, request := range requests {
		all = append(all, cell{request: request, fault: paused, outcome: outcomes[request],
			run: func(t *testing.T) {
				if err := pausedOutcome(request); err != nil {
					t.Error(err)
				}
			}})
	}
	return all
}

// pausedOutcome gives the outcome of one pause. They are long, so that all are run at the same time: whenever one
// is asked for that has been given already, or has not been run.
func pausedOutcome(request Request) error {
	pausing.Lock()
	defer pausing.Unlock()
	if _, there := pausedResults[request]; !there {
		var all sync.WaitGroup
		var mu sync.Mutex
		for _, request := range requests {
			all.Go(func() {
				err := pause(request)
				mu.Lock()
				defer mu.Unlock()
				pausedResults[request] = err
			})
		}
		all.Wait()
	}
	err := pausedResults[request]
	delete(pausedResults, request)
	return err
}

// pausing guards pausedResults: the first cell that asks runs all, and the others wait for it.
var (
	pausing       sync.Mutex
	pausedResults = map[Request]error{}
)

// pauseScene is a child and what is around it.
type pauseScene struct {
	ctx         context.Context
	server      *embedded.Server
	child       *process
	front, next *locks.Client
	ahead       *locks.Lease // the front's
	aim         embedded.Fault
	command     string // has the child send the request
}

// pause tells one story of a child that is stopped.
func pause(request Request) (err error) {
	s := &pauseScene{}
	ctx, cancel := context.WithTimeout(context.Background(), 2*bound)
	defer cancel()
	s.ctx = ctx
	if s.server, err = embedded.Start(embedded.WithTick(50 * time.Millisecond)); err != nil {
		return err
	}
	defer s.server.Close()
	for _, client := range []**locks.Client{&s.front, &s.next} {
		if *client, err = locks.Open(ctx, s.server.Addr(), locks.WithSessionTimeout(long)); err != nil {
			return err
		}
		defer func() {
			_ = (*client).Close(ctx)
			err = errors.Join(err, relists.None((*client).Session().Counters().Polls))
		}()
	}
	others := s.server.Sessions()
	if s.child, err = startChild(order{Connect: s.server.Addr(), Timeout: brief, Path: lockPath}); err != nil {
		return err
	}
	defer func() {
		err = errors.Join(err, s.child.Kill(), s.child.relists.Err())
	}()
	mine := slices.DeleteFunc(s.server.Sessions(), func(id int64) bool { return slices.Contains(others, id) })
	if len(mine) != 1 {
		return fmt.Errorf("the child has sessions %v", mine)
	}
	if err := s.prepare(request, mine[0]); err != nil {
		return err
	}
	got, thaw, err := s.stop(mine[0])
	if err != nil {
		return err
	}
	if err := s.child.Resume(); err != nil {
		return err
	}
	thaw()
	return s.judge(request, got)
}

// prepare brings the child to where the request is the next thing that it sends.
func (s *pauseScene) prepare(request Request, session int64) (err error) {
	say := func(commands ...string) {
		for _, c := range commands {
			if err == nil {
				err = s.child.Tell(c)
			}
			if err == nil {
				_, err = s.child.await(c, "")
			}
		}
	}
	s.aim = embedded.Fault{Session: session, Action: embedded.HoldReplies}
	s.command = "lock"
	switch request {
	case create, syncing, list, watch:
		say("warm")
	default:
		say("lock")
		s.command = ""
	}
	if err == nil && (request == list || request == watch) {
		s.ahead, err = s.front.Mutex(lockPath).Lock(s.ctx)
	}
	creates := embedded.Fault{Session: session, Path: lockPath + "/*-lock-", Action: embedded.CutAfter}
	switch request {
	case create:
		s.aim.Op, s.aim.Path = creates.Op, creates.Path
	case list:
		s.aim.Op, s.aim.Path = embedded.OpGetChildren2, lockPath
	case watch:
		s.aim.Op, s.aim.Path = embedded.OpGetData, lockPath+"/*-lock-*"
	case syncing:
		s.aim.Op, s.aim.Path = embedded.OpMulti, lockPath
		_, injectErr := s.server.Inject(creates)
		err = errors.Join(err, injectErr)
	case verify:
		s.aim.Op, s.aim.Path = embedded.OpMulti, lockPath+"/*-lock-??????????"
	case remove:
		s.aim.Op, s.aim.Path, s.command = embedded.OpDelete, lockPath+"/*", "unlock"
	case ping:
		s.aim.Op = embedded.OpPing
	}
	return err
}

// stop has the request met and the child stopped, until somebody else holds.
func (s *pauseScene) stop(session int64) (*player, func(), error) {
	injection, err := s.server.Inject(s.aim)
	if err != nil {
		return nil, nil, err
	}
	if s.command != "" {
		if err := s.child.Tell(s.command); err != nil {
			return nil, nil, err
		}
	}
	if err := injection.Wait(s.ctx); err != nil {
		return nil, nil, err
	}
	if err := s.child.Pause(); err != nil {
		return nil, nil, err
	}
	stopped := time.Now()
	for slices.Contains(s.server.Sessions(), session) {
		if s.ctx.Err() != nil {
			return nil, nil, errors.New("the session of a process that is stopped never expires")
		}
		time.Sleep(10 * time.Millisecond)
	}
	if s.ahead != nil {
		if err := s.ahead.Unlock(s.ctx); err != nil {
			return nil, nil, err
		}
	}
	p := &player{client: s.next, rec: actorstest.NewRecorder(s.next.System())}
	p.lease, err = s.next.Mutex(lockPath, locks.WithObserver(p.rec.PID())).Lock(s.ctx)
	time.Sleep(time.Until(stopped.Add(brief))) // a child looks that has stood still for longer
	return p, injection.Release, err
}

// judge compares what the child says with what must have come out.
func (s *pauseScene) judge(request Request, next *player) error {
	defer next.rec.Close()
	switch request {
	case verify, ping:
		return s.judgeHolder(next)
	case remove:
		if unlocked, err := s.child.await("unlock", ""); err != nil || unlocked.Error != "" {
			return fmt.Errorf("Unlock: %s, %w", unlocked.Error, err)
		}
		return next.lease.Unlock(s.ctx)
	}
	if _, err := s.child.await("state", "watching"); err != nil && request != create && request != syncing {
		return err
	}
	if err := next.lease.Unlock(s.ctx); err != nil {
		return err
	}
	got, err := s.child.await("lock", "")
	if err != nil || got.Error != "" || got.Token <= next.lease.Token() {
		return fmt.Errorf("child's lock after %s: %+v, %w; the one before it had token %v", s.child.story(), got, err, next.lease.Token())
	}
	if err := s.child.Tell("unlock"); err != nil {
		return err
	}
	unlocked, err := s.child.await("unlock", "")
	if err != nil || unlocked.Error != "" {
		return fmt.Errorf("child's unlock: %+v, %w", unlocked, err)
	}
	return nil
}

// judgeHolder: a holder finds its lease over at the first look, has been told Lost, and the next was not let in
// before the lease had ended.
func (s *pauseScene) judgeHolder(next *player) error {
	look, err := s.child.await("look", "")
	if err != nil {
		return err
	}
	if _, err := s.child.await("state", "lost"); err != nil {
		return err
	}
	granted, err := next.rec.Await(s.ctx, messages.StateHeld)
	if err != nil {
		return err
	}
	if err := s.child.Tell("unlock"); err != nil {
		return err
	}
	unlocked, err := s.child.await("unlock", "")
	switch {
	case err != nil:
		return err
	case look.Valid:
		return fmt.Errorf("valid after it had stood still for %v", look.Gap)
	case unlocked.Error == "":
		return errors.New("Unlock of a lease that was lost succeeded")
	case !look.Deadline.Before(granted.At):
		return fmt.Errorf("the lease ran until %v, the next was let in at %v", look.Deadline, granted.At)
	}
	return next.lease.Unlock(s.ctx)
}
