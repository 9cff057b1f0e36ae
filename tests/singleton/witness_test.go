package singleton

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/asynkron/protoactor-go/actor"

	"github.com/turnstile-locks/turnstile/actors"
	"github.com/turnstile-locks/turnstile/messages"
)

// Messages to a child.
type (
	// job is noted, and answered.
	job struct{ number int }
	// panics makes it panic; poisonous makes it and each later one of its node panic in Stopping.
	panics    struct{}
	poisonous struct{}
	// leaves makes it stop itself.
	leaves struct{}
	// sleeps makes it deaf for a while, also when its context ends.
	sleeps time.Duration
	// lingers makes it take so long to stop.
	lingers time.Duration
)

// witness looks at the children of all nodes.
type witness struct {
	observer *actor.PID // of all lock actors

	mu       sync.Mutex
	begun    time.Time
	stays    []*stay // of children that have not ended
	newest   messages.Token
	lines    []string
	wrong    []string
	jobs     []job // that were done; dead has the ones that became dead letters
	dead     []job
	count    int             // activations
	poisoned map[string]bool // nodes whose children panic in Stopping
	broken   bool            // an operator has broken the lock: a holder may hear of it after the next one holds
}

// stay is a child with its newest activation.
type stay struct {
	node string
	by   *actors.Activation
}

func newWitness(system *actor.ActorSystem) *witness {
	w := &witness{begun: time.Now(), poisoned: map[string]bool{}}
	w.observer = system.Root.Spawn(actor.PropsFromFunc(func(ctx actor.Context) {
		switch n := ctx.Message().(type) {
		case *messages.Released:
			if n.Reason != messages.ReasonRevoked {
				w.released(n.Grant)
			}
		case *messages.Transition: // the lock actor was stopped
			if n.Reason == messages.ReasonStopped {
				w.released(n.Grant)
			}
		}
	}))
	system.EventStream.Subscribe(func(event any) {
		if letter, is := event.(*actor.DeadLetterEvent); is {
			if j, is := letter.Message.(job); is {
				w.mu.Lock()
				defer w.mu.Unlock()
				w.dead = append(w.dead, j)
				w.tell("a dead letter for %s: job %d", letter.PID.GetId(), j.number)
			}
		}
	})
	return w
}

func (w *witness) tell(format string, args ...any) {
	at := time.Since(w.begun).Round(time.Millisecond)
	w.lines = append(w.lines, fmt.Sprintf("%10v ", at)+fmt.Sprintf(format, args...))
}

// activated takes it that a child may work.
func (w *witness) activated(node string, by *actors.Activation) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.tell("%s is active with token %d", node, by.Token)
	for _, other := range w.stays {
		switch {
		case other.by.Valid() && by.Valid() && !w.broken:
			w.fault("%s and %s are valid", node, other.node)
		case context.Cause(other.by.Context) == nil && !w.broken:
			w.fault("%s is active, and the context of %s has not ended", node, other.node)
		}
	}
	if by.Token < w.newest {
		w.fault("token %d after %d", by.Token, w.newest)
	}
	w.newest = by.Token
	w.count++
	w.stays = append(w.stays, &stay{node, by})
}

// released takes it that a lock was given back: no child of that grant runs any more.
func (w *witness) released(grant messages.Grant) {
	w.mu.Lock()
	defer w.mu.Unlock()
	for _, s := range w.stays {
		if s.by.Grant == grant && !w.broken {
			w.fault("the lock of %s was given back, and its child runs", s.node)
		}
	}
}

// left takes it that a child has ended, or is about to be restarted.
func (w *witness) left(node string, by *actors.Activation, how string) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.tell("%s has %s", node, how)
	w.stays = slices.DeleteFunc(w.stays, func(s *stay) bool { return s.by == by })
}

func (w *witness) fault(format string, args ...any) {
	w.wrong = append(w.wrong, fmt.Sprintf(format, args...))
	w.tell("WRONG: "+format, args...)
}

func (w *witness) faults() []string {
	w.mu.Lock()
	defer w.mu.Unlock()
	if len(w.wrong) == 0 {
		return nil
	}
	return append(slices.Clone(w.wrong), "\n"+strings.Join(w.lines, "\n"))
}

func (w *witness) story() string {
	w.mu.Lock()
	defer w.mu.Unlock()
	return strings.Join(w.lines, "\n")
}

// running names the nodes with children that have not ended.
func (w *witness) running() string {
	w.mu.Lock()
	defer w.mu.Unlock()
	var names []string
	for _, s := range w.stays {
		names = append(names, s.node)
	}
	return strings.Join(names, " and ")
}

// activation is the newest of a node.
func (w *witness) activation(node string) *actors.Activation {
	w.mu.Lock()
	defer w.mu.Unlock()
	for _, s := range slices.Backward(w.stays) {
		if s.node == node {
			return s.by
		}
	}
	return nil
}

// done and lost give the numbers of the jobs that were done, and of the jobs that became dead
// letters.
func (w *witness) done() []int { return w.numbers(&w.jobs) }
func (w *witness) lost() []int { return w.numbers(&w.dead) }

func (w *witness) numbers(of *[]job) (all []int) {
	w.mu.Lock()
	defer w.mu.Unlock()
	for _, j := range *of {
		all = append(all, j.number)
	}
	return all
}

// child gives the props of the actor of which there is to be one.
func (w *witness) child(node string) *actor.Props {
	return actor.PropsFromProducer(func() actor.Actor { return &child{witness: w, node: node} })
}

// child is the actor that is a singleton's child.
type child struct {
	witness *witness
	node    string
	by      *actors.Activation
	first   bool // Started came
	lingers time.Duration
}

func (c *child) Receive(ctx actor.Context) {
	switch msg := ctx.Message().(type) {
	case *actor.Started:
		c.first = true
		return
	case *actors.Activation:
		if !c.first || c.by != nil {
			panic("it is not the first message")
		}
		c.by = msg
		c.witness.activated(c.node, msg)
		return
	case *actor.Stopping:
		time.Sleep(c.lingers)
		if c.witness.poison(c.node, false) {
			panic("as ordered, in Stopping")
		}
		return
	case *actor.Stopped:
		c.witness.left(c.node, c.by, "ended")
		return
	case *actor.Restarting:
		c.witness.left(c.node, c.by, "panicked")
		return
	}
	if c.by == nil {
		panic("nobody has said that it may work")
	}
	c.work(ctx)
}

func (c *child) work(ctx actor.Context) {
	if end := c.by.Deadline(); !end.IsZero() && !time.Now().Before(end) { // Valid may have changed since it was looked at
		c.witness.mu.Lock()
		c.witness.fault("%s is given work though its lease is over", c.node)
		c.witness.mu.Unlock()
	}
	switch msg := ctx.Message().(type) {
	case job:
		c.witness.mu.Lock()
		c.witness.jobs = append(c.witness.jobs, msg)
		c.witness.mu.Unlock()
		if ctx.Sender() != nil {
			ctx.Respond(msg)
		}
	case panics:
		panic("as ordered")
	case poisonous:
		c.witness.poison(c.node, true)
	case leaves:
		ctx.Stop(ctx.Self())
	case sleeps:
		time.Sleep(time.Duration(msg))
	case lingers:
		c.lingers = time.Duration(msg)
	}
}

// note writes into the story.
func (w *witness) note(format string, args ...any) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.tell(format, args...)
}

// activations counts them.
func (w *witness) activations() int {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.count
}

// poison reports whether the children of a node panic in Stopping, and has them do so from now on.
func (w *witness) poison(node string, now bool) bool {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.poisoned[node] = w.poisoned[node] || now
	return w.poisoned[node]
}
