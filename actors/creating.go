package actors

import (
	"errors"
	"fmt"
	"time"

	"github.com/cenkalti/backoff/v4"

	"github.com/turnstile-locks/turnstile/actors/machine"
	"github.com/turnstile-locks/turnstile/actors/queue"
	"github.com/turnstile-locks/turnstile/messages"
	"github.com/turnstile-locks/turnstile/zkconn"
)

// facts is what was learnt of a lock path, so that it need not be asked again.
type facts struct {
	exists bool
	// counted: its data are empty and we may write it, so that one transaction makes the node and
	// tells the rest.
	counted bool
	// permits: a semaphore's number of permits is recorded in its data.
	permits bool
}

// create makes the contender's node, unless its owner has the lock in another way.
func (s *session) create(c *contender, op uint64) {
	if s.asKin(c, op) {
		return
	}
	s.stake(c)
	s.compete(c)
	if s.takeUp(c, op) {
		return
	}
	c.creates++
	c.verifies = 0
	sp, me := c.spec, s.identity(c)
	if !sp.contest() {
		s.submit(change{contender: c, op: op})
		return
	}
	s.run(func(conn *zkconn.Conn) func() {
		made, err := createContest(conn, sp, me)
		return func() { s.created(c, op, made, facts{}, err) }
	})
}

// downgrade makes a read node at the place of a writer that holds: with its own sequence number, so that
// nobody who came later can get in between when the writer's node goes (Curator's later releases do the same).
func (s *session) downgrade(c, writer *contender, op uint64) {
	s.stake(c)
	c.creates++
	c.verifies = 0
	c.heir = writer.token
	sp, beside := c.spec, writer.node
	known, _ := s.facts.Get(c.path)
	name := sp.style.Prefix(sp.guid) + fmt.Sprintf("%010d", writer.sequence)
	s.run(func(conn *zkconn.Conn) func() {
		made, err := conn.CreateNamed(sp.path, name, sp.data(0), beside)
		made.Siblings = 1 // at this place there is nobody to wait for
		return func() { s.created(c, op, made, known, err) }
	})
}

// createNode makes the node, and the lock path where that is missing. A lock path that vanishes in
// between, as an empty container does, is made again, a bounded number of times.
func createNode(conn *zkconn.Conn, sp *spec, known facts, without FastPath) (made zkconn.Created, learnt facts, early *view, err error) {
	learnt = known
	err = backoff.Retry(func() error {
		if !learnt.exists {
			if learnt, err = learn(conn, sp.path, without&OneRoundTrip == 0); err != nil {
				return backoff.Permanent(err)
			}
		}
		if sp.permits > 0 && !learnt.permits {
			err = recordPermits(conn, sp.path, sp.permits)
			if errors.Is(err, zkconn.ErrNoNode) {
				learnt = facts{}
				return err
			}
			if err != nil {
				return backoff.Permanent(err)
			}
			learnt.permits, learnt.counted = true, false
		}
		made, early, err = createOnce(conn, sp, &learnt, without)
		if errors.Is(err, zkconn.ErrNoNode) && made.Name == "" {
			learnt = facts{}
			return err
		}
		if err != nil {
			return backoff.Permanent(err)
		}
		return nil
	}, backoff.WithMaxRetries(backoff.NewExponentialBackOff(
		backoff.WithInitialInterval(5*time.Millisecond), backoff.WithMaxInterval(200*time.Millisecond)), 8))
	return made, learnt, early, err
}

// learn finds out what kind of lock path it is, and makes it where it does not exist.
func learn(conn *zkconn.Conn, path string, parentWrites bool) (facts, error) {
	data, _, err := conn.Get(path)
	switch {
	case err == nil:
		return facts{exists: true, counted: parentWrites && len(data) == 0}, nil
	case errors.Is(err, zkconn.ErrNoNode):
		if err := conn.EnsureParents(path); err != nil {
			return facts{}, err
		}
		// Somebody else may have made it, with data. When it is gone again, what is done in it next
		// says so.
		data, _, err = conn.Get(path)
		if err != nil && !errors.Is(err, zkconn.ErrNoAuth) && !errors.Is(err, zkconn.ErrNoNode) {
			return facts{}, err
		}
		return facts{exists: true, counted: err == nil && parentWrites && len(data) == 0}, nil
	case errors.Is(err, zkconn.ErrNoAuth): // what we may not read we do not overwrite
		return facts{exists: true}, nil
	default:
		return facts{}, err
	}
}

// createOnce makes the node with as much as may be learnt at the same time: how many there are in the queue, or else the
// queue itself.
func createOnce(conn *zkconn.Conn, sp *spec, learnt *facts, without FastPath) (zkconn.Created, *view, error) {
	prefix := sp.style.Prefix(sp.guid)
	if learnt.counted {
		made, err := conn.CreateCounted(sp.path, prefix, sp.data(0))
		if !errors.Is(err, zkconn.ErrNoAuth) {
			return made, nil, err
		}
		learnt.counted = false // perhaps we may create here, but not write
	}
	if without&PipelinedListing != 0 {
		made, err := conn.CreatePlain(sp.path, prefix, sp.data(0))
		return made, nil, err
	}
	// One connection's requests are carried out in order: the listing that is sent behind the create shows the node.
	var early *view
	made, err := conn.CreateBefore(sp.path, prefix, sp.data(0), func() {
		listed := readQueue(conn, sp.path, sp.permits)
		early = &listed
	})
	return made, early, err
}

// created takes the answer to a create.
func (s *session) created(c *contender, op uint64, made zkconn.Created, learnt facts, err error) {
	c.creates--
	plain := !c.contest() && c.heir == 0 // the others learn nothing of the lock path
	if how := zkconn.OutcomeOf(err); plain && (how == zkconn.Applied || how == zkconn.Refused) {
		s.facts.Add(c.path, learnt) // otherwise it may have learnt less than others have
	}
	ev := s.judge(c, made, err)
	ev.Op = op
	if ev.Kind == machine.Created {
		s.startBeating()
	}
	if ev.Predecessor != "" {
		c.early = nil // it does not list, and by the time that it does this would be out of date
	}
	later := c.later
	c.later = nil
	if c.gone || c.settleLater {
		c.settleLater = false
		s.settle(c)
	}
	if c.gone {
		return
	}
	s.tell(c.lock, ev)
	for _, do := range later {
		do()
	}
}

// judge turns the answer to a create into an event, and notes what it means for the contender.
func (s *session) judge(c *contender, made zkconn.Created, err error) machine.Event {
	switch {
	case c.contest() && errors.Is(err, zkconn.ErrNodeExists):
		return machine.Event{Kind: machine.Taken, Predecessor: c.spec.node}
	case c.heir != 0 && made.Name == "" && errors.Is(err, zkconn.ErrNoNode): // the writer's node is gone
		s.unstake(c)
		return machine.Event{Kind: machine.NotCreated, Reason: messages.ReasonHoldGone, Detail: err.Error()}
	case err != nil && made.Name == "" && zkconn.OutcomeOf(err) == zkconn.Refused:
		s.unstake(c)
		return machine.Event{Kind: machine.NotCreated, Reason: why(err), Detail: err.Error()}
	case c.node != "" && c.node != made.Name: // two nodes of one request: verify keeps one
		c.unsure = true
		return machine.Event{Kind: machine.Unknown, Detail: "a second node of the request was made"}
	case err != nil: // also when the node is there, but its czxid could not be had
		c.unsure = true
		return machine.Event{Kind: machine.Unknown, Detail: err.Error()}
	}
	if !made.Sent.IsZero() {
		s.renewed()
	}
	token, err := messages.NewToken(made.Czxid, made.Place)
	if c.heir != 0 {
		token = c.heir
	}
	sequence, isContender := c.number(made.Name)
	s.have(c, made.Name, sequence, token)
	ev := machine.Event{
		Kind: machine.Created, Node: made.Name, Token: token,
		Alone:       made.Place == 0 && int(made.Siblings) == max(made.Together, 1),
		Predecessor: s.rightBefore(c),
		Exhausted:   !isContender || queue.Exhausted(sequence),
	}
	if err != nil {
		ev.Exhausted, ev.Reason, ev.Detail = true, messages.ReasonZxidOutOfRange, err.Error()
	}
	return ev
}

// rightBefore gives the node of ours that stands right before a new one, "" when there is none: their
// sequence numbers follow each other, so that nobody can come between.
//
// c waits for it only where c waits for every earlier contender, or for those of its mode.
func (s *session) rightBefore(c *contender) string {
	if c.contest() {
		return ""
	}
	before := s.newest[c.queue()]
	if before == nil || before.sequence < c.sequence {
		s.newest[c.queue()] = c
	}
	if before == nil || before == c || before.node == "" || before.sequence+1 != c.sequence {
		return ""
	}
	if c.style.Mode == messages.Semaphore || !queue.WaitsFor(c.style.Mode, before.style.Mode) || c.watchAll {
		return ""
	}
	return before.node
}

// number gives the sequence number of the contender's node; that of a contest has none, and needs none.
func (c *contender) number(node string) (int32, bool) {
	if c.contest() {
		return 0, true
	}
	return queue.Sequence(node)
}

// withdraw takes a create back that still waits for the connection, for another of its owner, or
// for the check of a node to reuse. One that is under way is answered as ever.
func (s *session) withdraw(c *contender, o *order) {
	waits := s.declines(c)
	s.unstake(c)
	waits = waits || c.joins != 0
	c.joins = 0
	for _, p := range s.parked {
		if p.contender == c && p.effect.Do == machine.Create {
			s.parked = without(s.parked, c)
			waits = true
			break
		}
	}
	waits = s.ungather(c) || waits
	if waits {
		s.tell(c.lock, machine.Event{Kind: machine.NotCreated, Op: o.Op})
	}
}
