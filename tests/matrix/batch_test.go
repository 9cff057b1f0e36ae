package matrix

import (
	"fmt"
	"testing"
	"testing/synctest"
	"time"

	"github.com/asynkron/protoactor-go/actor"
	"github.com/go-zookeeper/zk"
	"github.com/stretchr/testify/require"

	"github.com/turnstile-locks/turnstile/actors"
	"github.com/turnstile-locks/turnstile/messages"
	"github.com/turnstile-locks/turnstile/zkconn/embedded"
)

// pilotPath is the lock whose create is under way while others gather behind it.
const pilotPath = "/pilot"

// newNodes are the creates of contenders in the lock paths of a batch: their names have no number yet.
const newNodes = "/lock*/*-lock-"

// somePaths are so many lock paths.
func somePaths(n int) (all []string) {
	for i := range n {
		all = append(all, fmt.Sprintf("/lock-%d", i))
	}
	return all
}

// batch has the creates that have come while the pilot's is not answered.
type batch struct {
	*crowd
	session int64
	pilot   *member
	members []*member // what gathers
	release func()    // has the pilot's create answered: what has gathered is sent
	fault   *embedded.Injection
}

// hold has our session wait for the answer to a create.
func (c *crowd) hold(t *testing.T, lockPaths ...string) *batch {
	t.Helper()
	c.know(t, c.ours, append(lockPaths, pilotPath)...)
	return c.holdOn(t)
}

func (c *crowd) holdOn(t *testing.T) *batch {
	t.Helper()
	b := &batch{crowd: c, session: session(c.ours)}
	kept := c.strike(t, embedded.Fault{Path: pilotPath + "/*-lock-", Action: embedded.HoldReplies})
	b.pilot = c.enter(t, c.ours, pilotPath)
	require.NoError(t, kept.Wait(patient(t)))
	synctest.Wait()
	b.release = kept.Release
	return b
}

// gatherOf has n requests made, for the lock paths in turn.
func (b *batch) gatherOf(t *testing.T, n int, lockPaths ...string) *batch {
	t.Helper()
	for i := range n {
		b.members = append(b.members, b.enter(t, b.ours, lockPaths[i%len(lockPaths)]))
		synctest.Wait()
	}
	return b
}

// meeting puts a fault in place. A create that waits for no others is sent at once.
func (b *batch) meeting(t *testing.T, f embedded.Fault) *batch {
	t.Helper()
	b.fault = b.strike(t, f)
	return b
}

// sent has what has gathered sent, and met by the fault.
func (b *batch) sent(t *testing.T) *batch {
	t.Helper()
	b.release()
	require.NoError(t, b.fault.Wait(patient(t)))
	synctest.Wait()
	return b
}

// together checks that so many changes went in one transaction, where they do so at all.
func (b *batch) together(t *testing.T, n int) {
	t.Helper()
	if gathers(t) {
		require.Equal(t, n, b.sizes.most(b.session), "changes in one transaction")
	}
}

// follow has another session ask for each of the lock paths.
func (b *batch) follow(t *testing.T, lockPaths ...string) {
	t.Helper()
	for _, lockPath := range lockPaths {
		b.enter(t, b.theirs, lockPath)
	}
}

// struck is a batch of eight creates that meets an action.
func struck(action embedded.Action, lockPaths []string) func(*testing.T, *crowd) {
	return func(t *testing.T, c *crowd) {
		b := c.hold(t, lockPaths...).meeting(t, embedded.Fault{Path: newNodes, Action: action}).gatherOf(t, 8, lockPaths...)
		if action == embedded.ExpireBefore {
			b.pilot.ends = either
			c.seen.excuse(b.pilot) // before its time
		}
		b.sent(t)
		b.follow(t, lockPaths...)
		b.together(t, 8)
	}
}

// createdTogether are faults that strike creates that share a transaction.
var createdTogether = []plot{
	{name: "one-path/cut-before", play: struck(embedded.CutBefore, somePaths(1)),
		outcome: "not applied: each creates again, and holds once"},
	{name: "one-path/reply-lost", play: struck(embedded.CutAfter, somePaths(1)),
		outcome: "unknown: each finds its node by its GUID, and holds once, in the order of the nodes"},
	{name: "one-path/session-expired", play: struck(embedded.ExpireBefore, somePaths(1)),
		outcome: "each creates in the next session, and holds once"},
	{name: "many-paths/cut-before", play: struck(embedded.CutBefore, somePaths(8)),
		outcome: "not applied: each creates again, and holds once"},
	{name: "many-paths/reply-lost", play: struck(embedded.CutAfter, somePaths(8)),
		outcome: "unknown: each finds its node by its GUID, and holds once"},
	{name: "many-paths/session-expired", play: struck(embedded.ExpireBefore, somePaths(8)),
		outcome: "each creates in the next session, and holds once"},
	{name: "reply-late", outcome: "the answer is of a session that is over: each creates in the next, and holds once",
		play: func(t *testing.T, c *crowd) {
			b := c.hold(t, somePaths(2)...).meeting(t, keptCreates).gatherOf(t, 8, somePaths(2)...).sent(t)
			b.pilot.ends = either
			b.follow(t, somePaths(2)...)
			c.refuse(true)
			c.awaitExpiry(t, b.session)
			c.refuse(false)
			b.fault.Release()
			b.together(t, 8)
		}},
	{name: "server-restarted", outcome: "unknown, and waits for the server: each finds its node, and holds once",
		play: func(t *testing.T, c *crowd) {
			b := c.hold(t, somePaths(2)...).meeting(t, keptCreates).gatherOf(t, 8, somePaths(2)...).sent(t)
			c.server.Replica(0).Stop()
			time.Sleep(tick)
			require.NoError(t, c.server.Replica(0).Start())
			b.follow(t, somePaths(2)...)
			b.together(t, 8)
		}},
	{name: "cut-twice", outcome: "the search is cut as well, and begins again: each finds its node, and holds once",
		play: func(t *testing.T, c *crowd) {
			searches := c.strike(t, embedded.Fault{Op: embedded.OpMulti, Path: "/lock-?", Action: embedded.CutAfter})
			b := c.hold(t, somePaths(2)...).meeting(t, lostCreates).gatherOf(t, 8, somePaths(2)...).sent(t)
			require.NoError(t, searches.Wait(patient(t)))
			b.follow(t, somePaths(2)...)
			b.together(t, 8)
		}},
	{name: "one-part/not-permitted", outcome: "nothing is done for the sake of one; asked for one by one, that one fails and the others hold",
		play: func(t *testing.T, c *crowd) {
			paths := somePaths(4)
			b := c.hold(t, paths...)
			_, err := c.operator.SetACL(paths[1], zk.WorldACL(zk.PermAll&^zk.PermCreate), -1)
			require.NoError(t, err)
			b.gatherOf(t, 8, paths...)
			b.members[1].ends, b.members[5].ends = turnedAway, turnedAway
			b.release()
			synctest.Wait()
			b.follow(t, paths[0], paths[2])
			b.together(t, 8)
		}},
	{name: "one-part/lock-path-gone", outcome: "nothing is done for the sake of one; that one's lock path is made again, and all hold",
		play: func(t *testing.T, c *crowd) {
			paths := somePaths(4)
			b := c.hold(t, paths...)
			require.NoError(t, c.operator.Delete(paths[2], -1))
			c.seen.begunAnew(paths[2])
			b.gatherOf(t, 8, paths...)
			b.release()
			synctest.Wait()
			b.follow(t, paths...)
			b.together(t, 8)
		}},
	{name: "one-part/lock-path-gone-and-reply-lost", outcome: "one of those that are asked for one by one is not answered: it finds its node, and all hold",
		play: func(t *testing.T, c *crowd) {
			paths := somePaths(4)
			b := c.hold(t, paths...)
			require.NoError(t, c.operator.Delete(paths[2], -1))
			c.seen.begunAnew(paths[2])
			skip := 0
			if gathers(t) {
				skip = 1 // the transaction
			}
			b.meeting(t, embedded.Fault{Path: paths[1] + "/*-lock-", Skip: skip, Action: embedded.CutAfter})
			b.gatherOf(t, 8, paths...).sent(t)
			b.follow(t, paths...)
		}},
	{name: "one-part/lock-path-has-data", outcome: "its data stay, and all go together",
		play: func(t *testing.T, c *crowd) {
			paths := somePaths(4)
			_, err := c.operator.Create(paths[3], []byte("of somebody"), 0, zk.WorldACL(zk.PermAll))
			require.NoError(t, err)
			b := c.hold(t, paths...).meeting(t, embedded.Fault{Path: paths[0] + "/*-lock-", Action: embedded.CutAfter})
			b.gatherOf(t, 8, paths...).sent(t)
			b.follow(t, paths...)
			b.together(t, 8)
			data, _, err := c.operator.Get(paths[3])
			require.NoError(t, err)
			require.Equal(t, "of somebody", string(data))
		}},
	{name: "caller-gone/waiting", outcome: "its create is never sent; the others hold",
		play: func(t *testing.T, c *crowd) {
			b := c.hold(t, somePaths(1)...)
			if gathers(t) {
				b.meeting(t, lostCreates)
			}
			b.gatherOf(t, 8, somePaths(1)...)
			for _, i := range []int{0, 3, 7} {
				b.members[i].cancel()
				b.members[i].ends = givenUp
			}
			synctest.Wait()
			b.release()
			synctest.Wait()
			b.follow(t, somePaths(1)...)
			b.together(t, 5)
		}},
	{name: "caller-gone/under-way", outcome: "its node is deleted when the answer says that it is there; the others hold in their order",
		play: func(t *testing.T, c *crowd) { c.goneUnderWay(t, embedded.HoldReplies) }},
	{name: "caller-gone/reply-lost", outcome: "its node is looked for and deleted; the others hold in their order",
		play: func(t *testing.T, c *crowd) { c.goneUnderWay(t, embedded.CutAfter) }},
	{name: "lock-actor-stopped/waiting", outcome: "nothing is left of it; the others hold",
		play: func(t *testing.T, c *crowd) {
			b := c.hold(t, somePaths(1)...)
			if gathers(t) {
				b.meeting(t, lostCreates)
			}
			b.gatherOf(t, 4, somePaths(1)...)
			lock := b.spawn("/lock-0")
			b.gatherOf(t, 4, somePaths(1)...)
			b.ours.System().Root.Stop(lock)
			synctest.Wait()
			b.release()
			synctest.Wait()
			b.follow(t, somePaths(1)...)
		}},
	{name: "lock-actor-stopped/under-way", outcome: "its node is deleted when the answer says that it is there; the others hold",
		play: func(t *testing.T, c *crowd) {
			b := c.hold(t, somePaths(1)...).meeting(t, keptCreates).gatherOf(t, 4, somePaths(1)...)
			lock := b.spawn("/lock-0")
			synctest.Wait()
			b.gatherOf(t, 4, somePaths(1)...).sent(t)
			b.ours.System().Root.Stop(lock)
			synctest.Wait()
			b.fault.Release()
			b.follow(t, somePaths(1)...)
			b.together(t, 9)
		}},
}

// gathers reports whether creates that come while one is under way go together in the next transaction.
func gathers(t *testing.T) bool { return fast(t, "group-commit") }

// Creates whose answer is kept, or lost.
var (
	keptCreates = embedded.Fault{Path: newNodes, Action: embedded.HoldReplies}
	lostCreates = embedded.Fault{Path: newNodes, Action: embedded.CutAfter}
)

// spawn has a lock actor ask for a lock, that nobody waits for.
func (b *batch) spawn(lockPath string) *actor.PID {
	want := messages.Acquire{Path: lockPath, Mode: messages.Exclusive}
	return b.ours.System().Root.Spawn(actors.NewLock(b.ours.Session(), want))
}

// goneUnderWay: callers go when their creates are under way.
func (c *crowd) goneUnderWay(t *testing.T, action embedded.Action) {
	t.Helper()
	b := c.hold(t, somePaths(2)...).meeting(t, keptCreates).gatherOf(t, 8, somePaths(2)...).sent(t)
	for _, i := range []int{0, 3, 6} {
		b.members[i].cancel()
		b.members[i].ends = givenUp
	}
	synctest.Wait()
	if action == embedded.CutAfter {
		c.server.Replica(0).DropClients()
	}
	b.fault.Release()
	b.follow(t, somePaths(2)...)
	b.together(t, 8)
}

func TestFaultsStrikeCreatesTogether(t *testing.T) { testPlots(t, createdTogether) }

// severalUnderWay: so many transactions are under way at the same time when the connection is cut. The last is not
// carried out; the others are, and nobody is told.
func severalUnderWay() (all []plot) {
	for n := 1; n <= 4; n++ {
		for name, action := range map[string]embedded.Action{"applied": embedded.CutAfter, "last-not-applied": embedded.CutBefore,
			"session-expired": embedded.ExpireBefore} {
			all = append(all, plot{
				name:    fmt.Sprintf("%d-under-way/%s", n, name),
				outcome: "each part is found or made again: all hold once, in the order of their nodes",
				play: func(t *testing.T, c *crowd) {
					const each = 64 // as many as make another transaction worth sending
					b := c.hold(t, somePaths(3)...)
					if action == embedded.ExpireBefore {
						b.pilot.ends = either
					}
					last := b.strike(t, embedded.Fault{Path: newNodes, Skip: max(n-2, 0), Action: action})
					b.gatherOf(t, (n-1)*each, somePaths(3)...)
					if n == 1 { // what gathers behind the pilot is sent alone
						b.gatherOf(t, each/2, somePaths(3)...)
						b.release()
					}
					require.NoError(t, last.Wait(patient(t)))
					b.release()
					b.follow(t, somePaths(3)...)
				},
			})
		}
	}
	return all
}

func TestFaultsStrikeSeveralTransactions(t *testing.T) { testPlots(t, severalUnderWay()) }
