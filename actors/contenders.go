package actors

import (
	"cmp"
	"errors"
	"maps"
	"slices"
	"time"

	"github.com/asynkron/protoactor-go/actor"

	"github.com/turnstile-locks/turnstile/actors/machine"
	"github.com/turnstile-locks/turnstile/actors/metering"
	"github.com/turnstile-locks/turnstile/messages"
	"github.com/turnstile-locks/turnstile/zkconn"
	"github.com/turnstile-locks/turnstile/zkconn/logkeys"
)

// contender is what the session knows of one lock actor: enough to delete its node without it.
type contender struct {
	*spec
	lock *actor.PID
	born uint64 // its number among those of the session

	node     string // its node's name in this epoch, "" when none is known
	whole    string // with its path
	sequence int32
	place    int // of its newest create among those of its lock path in one transaction
	token    messages.Token
	next     *contender // who was behind it when it left, of this session: who has the lock now, or is to have it
	// givenBack is when its lock actor asked to give the lock back; zero where nothing is counted.
	givenBack metering.Moment
	checked   uint64 // the newest heartbeat that checked its node

	creates int      // requests under way that may make a node
	later   []func() // what waits for them to come back
	// verifies is the newest verification: older ones that are still under way change nothing.
	verifies uint64

	own      string   // the path of its own node, while it watches that
	owed     uint64   // the operation whose reading of the own node is put off
	vigil    *vigil   // what it watches while it waits
	front    []string // the nodes that it is to watch, as the newest listing showed them
	ahead    []string // of a semaphore: all who were before it then
	before   int      // how many contenders were before it then
	second   string   // the one before its predecessor then
	departed string   // the predecessor that went last
	permits  int      // of a semaphore, as they were then
	written  string   // of a semaphore: the node before it, when that was written to
	early    *view    // the queue as it was listed while its node was made
	rest     *rest    // its node may be used again

	joins uint64         // the create that waits for another of its owner
	heir  messages.Token // the token of the hold that it goes on with, in a downgrade
	tries int            // to settle

	removeAgain *machine.Effect // the delete of a contest's node that waits for another of it

	// Together, for a hundred thousand may wait.

	unsure      bool // a create's outcome is unknown: there may be a node that we do not know of
	mates       bool // there were others in its create's transaction: the places behind its own are theirs
	granted     bool
	brief       bool // it held for less than soon
	asked       bool // its node says that somebody wants the lock back
	leaves      bool // its node is being deleted, or was
	laid        bool // its node was left to who comes next, and is no concern of its own any more
	movedUp     bool // of a semaphore: the one behind was told that it holds
	competes    bool // it is counted into its contest
	claimed     bool // its owner's claim is noted
	under       bool // it was to be part of another's hold
	ends        bool // it was given up, or given back
	gone        bool // the lock actor has ended; what is left is the session's to delete
	settling    bool
	removing    bool // the node of a contest is being deleted
	settleLater bool // settle when what is under way has come back
}

// inOrder lists the contenders in the order in which they came, so that what is sent follows from what was asked
// for, and not from the order of a map.
func (s *session) inOrder() []*contender {
	return slices.SortedFunc(maps.Values(s.contenders), func(a, b *contender) int { return cmp.Compare(a.born, b.born) })
}

// at gives the path of a node of the request: most often of its own, which is kept.
func (c *contender) at(node string) string {
	if node == c.node && c.whole != "" {
		return c.whole
	}
	return c.spec.at(node)
}

// parked is an order that waits for the connection.
type parked struct {
	contender *contender
	effect    machine.Effect
}

// reset forgets all that belonged to an epoch.
func (c *contender) reset() {
	c.node, c.whole, c.sequence, c.token, c.granted = "", "", 0, 0, false
	c.leaves, c.next, c.asked, c.brief = false, nil, false, false
	c.creates, c.later, c.unsure = 0, nil, false
	c.own, c.owed, c.vigil, c.front, c.before, c.second, c.departed, c.movedUp = "", 0, nil, nil, 0, "", "", false
	c.claimed, c.joins, c.rest, c.laid, c.early = false, 0, nil, false, nil
	c.settling, c.settleLater, c.removing, c.tries, c.verifies = false, false, false, 0, 0
	c.removeAgain = nil
}

// enlist finds the contender of a lock actor, or makes it.
func (s *session) enlist(lock *actor.PID, sp *spec) *contender {
	key := lock.Id
	if c := s.contenders[key]; c != nil {
		return c
	}
	s.births++
	c := &contender{spec: sp, lock: lock, born: s.births}
	s.contenders[key] = c
	return c
}

// abandoned takes note that a lock actor has ended, in order or not.
func (s *session) abandoned(lock *actor.PID) {
	c := s.contenders[lock.Id]
	if c == nil || c.gone || s.ending {
		return
	}
	c.gone = true
	s.declines(c)
	s.unstake(c)
	s.parked = without(s.parked, c)
	s.unwatch(c)
	if c.rest != nil && c.rest.resting {
		return // it goes later
	}
	s.settle(c)
}

func without(orders []parked, c *contender) []parked {
	kept := orders[:0]
	for _, p := range orders {
		if p.contender != c {
			kept = append(kept, p)
		}
	}
	return kept
}

// strike removes a contender of which nothing is left.
func (s *session) strike(c *contender) {
	s.retire(c)
	s.forgetNode(c)
	delete(s.contenders, c.lock.Id)
}

// forgetNode notes that a contender's node does not exist any more.
func (s *session) forgetNode(c *contender) {
	if s.newest[c.queue()] == c {
		delete(s.newest, c.queue())
	}
	if c.node != "" {
		s.depart(c)
	}
	s.unwatch(c)
	s.forgetRest(c)
	s.lack(c)
	s.setGranted(c, false)
	c.movedUp, c.early = false, nil
}

// settle makes sure that nothing of a contender is left, without its lock actor: it looks for the node
// where it may exist, deletes it, and tries again until that is known to be done or the epoch is over.
func (s *session) settle(c *contender) {
	// What is under way may still make the node: created settles then. Or it deletes the node of a contest:
	// removedInContest does.
	if c.creates > 0 || c.removing {
		c.settleLater = true
		return
	}
	if c.node == "" && !c.unsure {
		if c.gone {
			s.strike(c)
		}
		return
	}
	if c.settling || !s.connected {
		return // up calls settleAgain
	}
	s.unstake(c)
	if !c.unsure && s.leaveShared(c) {
		if c.gone {
			s.strike(c)
		}
		return
	}
	c.settling = true
	sp, node, me := c.spec, c.node, s.identity(c)
	if c.unsure { // look for more than the one that we know
		node = ""
	}
	s.run(func(conn *zkconn.Conn) func() {
		err := deleteAll(conn, sp, node, me)
		return func() { s.settled(c, err) }
	})
}

func (s *session) settled(c *contender, err error) {
	c.settling = false
	if err == nil {
		c.unsure = false
		path := c.at(c.node)
		s.forgetNode(c)
		s.vanished(path)
		if c.gone {
			s.strike(c)
		}
		return
	}
	if errors.Is(err, zkconn.ErrNoAuth) {
		// We may create here but not delete. The node would keep everybody out for as long as the
		// session lives, so the session must not.
		s.log.Error("not permitted to delete a node: the session is ended for it", s.loggedOf(c)...)
		s.endEpoch()
		return
	}
	c.tries++
	s.log.Warn("node of an ended request could not be deleted yet",
		s.loggedOf(c, logkeys.Tries, c.tries, logkeys.Error, err)...)
	s.after(min(time.Duration(c.tries)*100*time.Millisecond, s.lease.timeout), func() { s.settle(c) })
}

// settleAgain takes up what could not be settled while the connection was down.
func (s *session) settleAgain() {
	for _, c := range s.inOrder() {
		if c.gone {
			s.settle(c)
		}
	}
}
