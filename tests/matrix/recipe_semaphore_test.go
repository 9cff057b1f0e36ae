package matrix

import (
	"slices"
	"testing"

	"github.com/go-zookeeper/zk"

	"github.com/turnstile-locks/turnstile/locks"
	"github.com/turnstile-locks/turnstile/messages"
	"github.com/turnstile-locks/turnstile/zkconn/embedded"
)

// permitsOf a semaphore of two.
func permitsOf(n int) kind {
	return func(c *locks.Client, opts ...locks.LockOption) locks.Locker {
		return c.Semaphore(lockPath, 2, opts...).Weight(n)
	}
}

// acquiring: the subject wants one of two permits, those around it both; where several are watched, two hold one each
// before it. A semaphore never holds before it has listed the queue.
var acquiring = &recipe{name: "semaphore", ahead: permitsOf(2), subject: permitsOf(1), behind: permitsOf(2),
	node: "*-permits-1-*",
	aims: func() map[Request]embedded.Fault {
		aims := aimsAt("*-permits-1-", "*-permits-2-*")
		aims[create] = embedded.Fault{Op: embedded.OpCreate, Path: lockPath + "/*-permits-1-"}
		aims[permits] = embedded.Fault{Op: embedded.OpGetData, Path: lockPath}
		aims[permitsWatch] = embedded.Fault{Op: embedded.OpGetData, Path: lockPath, Skip: 1}
		aims[frontWatch] = embedded.Fault{Op: embedded.OpGetData, Path: lockPath + "/*-permits-1-*", Skip: 1}
		aims[moveUp] = embedded.Fault{Op: embedded.OpSetData, Path: lockPath + "/*-permits-1-*"}
		return aims
	}(),
	as: func(request Request, c course) course {
		if request == moveUp { // it has waited
			c.story = slices.Concat(c.story[:1], []messages.State{stListing, stWatching}, c.story[1:])
		}
		return c.listsBefore(stCreating, stWatching)
	},
	like: map[Request]Request{permits: list, permitsWatch: watch, frontWatch: watch, moveUp: verify},
	cells: slices.Concat(
		[]cell{
			{request: moveUp, fault: nodeDeleted, strike: meanwhile((*fixture).prune),
				outcome: "Lost: the node is gone",
				course:  because(messages.ReasonNodeDeleted, stCreating, stListing, stWatching, stListing, stHeld, stLost)},
			{request: moveUp, fault: denied,
				outcome: "what may not be written tells nobody; the holder holds on, and the next sees it go",
				course:  andBack(stCreating, stListing, stWatching, stListing),
				strike: func(t *testing.T, s *fixture) {
					s.forbid(t, lockPath+"/"+s.owned(t, s.subject)[0], zk.PermAll&^zk.PermWrite)
					s.trigger(t)
				}},
		},
		[]cell{
			{request: permits, fault: parentDeleted, frontLost: true,
				outcome: "the lock path is gone, and the number of permits with it: the request makes it again, and holds",
				course:  andBack(stCreating, stListing, stRecovering, stCreating, stListing)},
			{request: permits, fault: nodeDeleted, strike: meanwhile((*fixture).prune),
				outcome: "the number is read behind the queue: the heartbeat finds that the waiter's node is gone, and it queues again",
				course:  andBack(stCreating, stListing, stWatching, stRecovering, stCreating, stListing, stWatching, stListing)},
			{request: permits, fault: paused, absurd: "the two requests of a listing are one step of the lock actor"},
			{request: permitsWatch, fault: paused, absurd: "the requests of a watch set are one step of the lock actor"},
			{request: frontWatch, fault: paused, absurd: "the requests of a watch set are one step of the lock actor"},
			{request: frontWatch, fault: quorumLost, absurd: "both who hold are lost, in two steps: watch has the one"},
			{request: moveUp, fault: parentDeleted, at: deserted, strike: meanwhile((*fixture).raze),
				outcome: "Lost: the node is gone",
				course:  because(messages.ReasonNodeDeleted, stCreating, stListing, stWatching, stListing, stHeld, stLost)},
		},
		toldAgain(list, permits, watch, permitsWatch, frontWatch),
		razed(list, watch, permitsWatch, frontWatch),
	),
}

// razed: the lock path is deleted while the subject waits.
func razed(rows ...Request) (all []cell) {
	for _, request := range rows {
		all = append(all, cell{request: request, fault: parentDeleted, frontLost: true,
			outcome: "the lock path is gone, and the number of permits with it: the request makes it again, and holds",
			course:  andBack(stCreating, stListing, stWatching, stListing, stRecovering, stCreating, stListing)})
	}
	return all
}

// toldAgain: after a new leader, holders tell once more that they hold, in case the event was lost.
// A waiter that hears of it lists.
func toldAgain(rows ...Request) (all []cell) {
	for _, request := range rows {
		story := []messages.State{stCreating, stListing, stRecovering, stListing, stWatching}
		if request != list && request != permits {
			story = []messages.State{stCreating, stListing, stWatching, stRecovering, stListing, stWatching}
		}
		all = append(all, cell{request: request, fault: leaderKilled,
			outcome: "the queue is listed and watched again, elsewhere; and listed once more when the holder tells that it holds",
			course:  andBack(append(slices.Clone(story), stListing)...),
			orElse:  andBack(append(slices.Clone(story), stListing, stWatching, stListing)...)})
	}
	return all
}
