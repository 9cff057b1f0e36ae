package look

import (
	"hash/maphash"
	"strconv"
	"time"

	"github.com/asynkron/protoactor-go/actor"

	"github.com/turnstile-locks/turnstile/examples/dashboard/board"
	"github.com/turnstile-locks/turnstile/messages"
)

// Messages to the follower.
type (
	// followThese are the lock paths to follow, and no others; of opened ones somebody looks at the page.
	followThese struct {
		paths  []string
		opened map[string]bool
	}
	// lookAt reads a queue once: a queue that is not followed just now because it changes too
	// often, or a followed queue in which something may have changed of which followers are not
	// told.
	lookAt struct{ path string }
)

// follower is the actor that takes the readings of queues, and passes them to the board.
type follower struct {
	session *actor.PID
	board   *board.Board
	paths   map[string]*followed
	seed    maphash.Seed
}

// followed is the state of one queue: it is followed, or read at a pace.
type followed struct {
	opened bool
	paced  bool
	timer  *time.Timer // of the next look; nil while no look is due
	told   time.Time   // when the last reading came
	size   int
	same   int    // readings in a row that showed nothing new
	digest uint64 // of the last reading
}

// stop takes the next look back.
func (q *followed) stop() {
	if q.timer != nil {
		q.timer.Stop()
		q.timer = nil
	}
}

func newFollower(session *actor.PID, to *board.Board) actor.Actor {
	return &follower{session: session, board: to, paths: map[string]*followed{}, seed: maphash.MakeSeed()}
}

// Receive takes one message.
func (f *follower) Receive(ctx actor.Context) {
	switch msg := ctx.Message().(type) {
	case *followThese:
		f.follow(ctx, msg)
	case *messages.Queue:
		f.told(ctx, msg)
	case *lookAt:
		if q := f.paths[msg.path]; q != nil {
			q.timer, q.told = nil, time.Time{} // the reading that we ask for says nothing of how busy it is
			ctx.Request(f.session, &messages.ReadQueue{Path: msg.path})
		}
	case *actor.Stopping:
		for path := range f.paths {
			f.end(ctx, path)
		}
	}
}

func (f *follower) follow(ctx actor.Context, these *followThese) {
	wanted := map[string]bool{}
	for _, path := range these.paths {
		wanted[path] = true
		q := f.paths[path]
		if q == nil {
			q = &followed{}
			f.paths[path] = q
			ctx.Request(f.session, &messages.Follow{Path: path})
		}
		if opens := these.opened[path] && !q.opened; opens && !q.paced && q.timer != nil {
			q.stop()
			f.lookLater(ctx, path, q, refreshOpened)
		}
		q.opened = these.opened[path]
	}
	for path := range f.paths {
		if !wanted[path] {
			f.end(ctx, path)
		}
	}
}

func (f *follower) end(ctx actor.Context, path string) {
	f.paths[path].stop()
	delete(f.paths, path)
	ctx.Request(f.session, &messages.Unfollow{Path: path})
	f.board.Drop(path)
}

// told takes a reading, and decides how the queue is looked at from here on.
func (f *follower) told(ctx actor.Context, msg *messages.Queue) {
	q := f.paths[msg.Path]
	if q == nil {
		return
	}
	now := time.Now()
	f.board.TakeQueue(now, msg)
	if msg.Reason != messages.ReasonNone { // nothing more comes by itself
		q.paced, q.same = true, 0
		f.lookLater(ctx, msg.Path, q, afterRefusal)
		return
	}
	before := q.told
	q.told, q.size = now, len(msg.Contenders)
	digest := f.digest(msg)
	if q.same++; digest != q.digest {
		q.same = 0
	}
	q.digest = digest
	switch {
	case !q.paced && now.Sub(before) < pause(q.size):
		q.paced = true
		q.stop()
		ctx.Request(f.session, &messages.Unfollow{Path: msg.Path})
		f.lookLater(ctx, msg.Path, q, pause(q.size))
	case q.paced && q.same >= calm:
		q.paced, q.same = false, 0
		q.stop()
		q.told = time.Time{} // the reading that comes at once says nothing of how busy it is
		ctx.Request(f.session, &messages.Follow{Path: msg.Path})
	case q.paced:
		f.lookLater(ctx, msg.Path, q, pause(q.size))
	case q.size > 0:
		f.lookLater(ctx, msg.Path, q, refresh(q.opened, q.size))
	}
}

func (f *follower) lookLater(ctx actor.Context, path string, q *followed, pause time.Duration) {
	if q.timer != nil {
		return
	}
	root, self := ctx.ActorSystem().Root, ctx.Self()
	q.timer = time.AfterFunc(pause, func() { root.Send(self, &lookAt{path}) })
}

// digest is a number that is another one when a queue is.
func (f *follower) digest(msg *messages.Queue) uint64 {
	var h maphash.Hash
	h.SetSeed(f.seed)
	_, _ = h.WriteString(strconv.Itoa(msg.Permits))
	for _, c := range msg.Contenders {
		_, _ = h.WriteString(c.Node)
		_, _ = h.WriteString(c.Token.String())
		for _, is := range []bool{c.Holds, c.Asked} {
			if is {
				_ = h.WriteByte(1)
			} else {
				_ = h.WriteByte(0)
			}
		}
	}
	return h.Sum64()
}
