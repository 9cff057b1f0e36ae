package actors

import (
	"errors"
	"time"

	"github.com/asynkron/protoactor-go/actor"

	"github.com/turnstile-locks/turnstile/messages"
	"github.com/turnstile-locks/turnstile/zkconn"
)

// retryFollowing is the pause before a read that failed is tried again.
const retryFollowing = 50 * time.Millisecond

// follower is somebody who wants to be told of a lock path, again and again.
type follower struct {
	pid     *actor.PID
	path    string
	reading bool
	again   bool // it has changed since the read that is under way began
}

// follow takes an actor that wants to know. Asking once more changes nothing.
func (s *session) follow(ctx actor.Context, path string) {
	pid := ctx.Sender()
	if pid == nil {
		return
	}
	f := &follower{pid: pid, path: path}
	if err := zkconn.CheckPath(path); err != nil {
		s.tellFollower(f, &messages.Queue{Refusal: refusal(err), Path: path})
		return
	}
	if s.ending {
		s.tellFollower(f, &messages.Queue{Refusal: messages.Refusal{Reason: messages.ReasonSessionClosed}, Path: path})
		return
	}
	for _, other := range s.followers[path] {
		if other.pid.Equal(pid) {
			return
		}
	}
	ctx.Watch(pid)
	s.followers[path] = append(s.followers[path], f)
	s.stir(f)
}

// unfollow forgets a follower of one path, or of all with "".
func (s *session) unfollow(pid *actor.PID, path string) {
	for at, all := range s.followers {
		if path != "" && at != path {
			continue
		}
		var kept []*follower
		for _, f := range all {
			if !f.pid.Equal(pid) {
				kept = append(kept, f)
			}
		}
		if len(kept) == 0 {
			delete(s.followers, at)
		} else {
			s.followers[at] = kept
		}
	}
}

// stirAll has all followers told anew.
func (s *session) stirAll() {
	for path := range s.followers {
		s.stirThose(path)
	}
}

// stirThose has the followers of a path told anew.
func (s *session) stirThose(path string) {
	for _, f := range s.followers[path] {
		s.stir(f)
	}
}

// stir has a follower told anew, once the read that is under way is done.
func (s *session) stir(f *follower) {
	if !s.connected {
		return // up stirs all
	}
	if f.reading {
		f.again = true
		return
	}
	f.reading, f.again = true, false
	path := f.path
	s.run(func(conn *zkconn.Conn) func() {
		err := watchQueue(conn, path) // before it is read: what changes from here on is told
		var answer any
		if err == nil {
			answer, err = readQueueTask{messages.ReadQueue{Path: path}}.answer(conn)
		}
		return func() { s.followed(f, answer, err) }
	})
}

// watchQueue watches the children of a lock path, or waits for it to be made.
func watchQueue(conn *zkconn.Conn, path string) error {
	for {
		_, err := conn.ChildrenWatched(path)
		if !errors.Is(err, zkconn.ErrNoNode) {
			return err
		}
		if _, exists, err := conn.ExistsWatched(path); err != nil || !exists {
			return err
		}
	}
}

// followed takes what was read for a follower.
func (s *session) followed(f *follower, answer any, err error) {
	f.reading = false
	if !s.follows(f) {
		return
	}
	switch {
	case err == nil:
		s.tellFollower(f, answer)
		if f.again {
			s.stir(f)
		}
	case again(err):
		s.after(retryFollowing, func() { s.stir(f) })
	default:
		s.unfollow(f.pid, f.path)
		s.tellFollower(f, &messages.Queue{Refusal: refusal(err), Path: f.path})
	}
}

// follows tells whether a follower still is one.
func (s *session) follows(f *follower) bool {
	for _, other := range s.followers[f.path] {
		if other == f {
			return true
		}
	}
	return false
}

// endFollowing tells all followers that nothing more comes.
func (s *session) endFollowing() {
	for path, all := range s.followers {
		for _, f := range all {
			s.tellFollower(f, &messages.Queue{Refusal: messages.Refusal{Reason: messages.ReasonSessionClosed}, Path: path})
		}
	}
	clear(s.followers)
}

func (s *session) tellFollower(f *follower, answer any) { s.system.Root.Send(f.pid, answer) }
