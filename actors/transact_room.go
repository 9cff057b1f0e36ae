package actors

import (
	"fmt"

	"github.com/turnstile-locks/turnstile/actors/internal/coordinator"
	"github.com/turnstile-locks/turnstile/zkconn"
)

// Ephemeral nodes of transactions weigh as much as contender nodes do: see WithMaxNodeBytes. A
// transaction first asks the session for room, and reports afterwards which nodes it has made and
// deleted.

type weighing struct {
	epoch  uint64
	weight int
	answer chan<- error
}

// weighed is the result of a transaction: the paths that it has made, or may have made, and those
// that it has deleted. kept is the weight that was admitted.
type weighed struct {
	epoch         uint64
	made, deleted []string
	kept, unnamed int // the weight of nodes that may exist and whose paths are not known
}

func (x *transacting) weight() (weight int) {
	for _, o := range x.Ops {
		if o.Kind == zkconn.OpCreate && o.Ephemeral {
			weight += x.weightOf(o)
		}
	}
	return weight
}

func (x *transacting) weightOf(o zkconn.Op) int {
	weight := coordinator.WeightOf(x.session.Absolute(o.Path))
	if o.Sequential {
		weight += sequenceDigits
	}
	return weight
}

func (x *transacting) admit(weight int) error {
	answer := make(chan error, 1)
	x.session.system.Root.Send(x.session.pid, &weighing{x.Epoch, weight, answer})
	select {
	case err := <-answer:
		return err
	case <-x.ctx.Done():
		return x.ended()
	case <-x.session.stopped:
		return ErrNotHolding
	}
}

func (x *transacting) settle(weight int, results []zkconn.OpResult, err error) {
	all := &weighed{epoch: x.Epoch, kept: weight}
	for i, o := range x.Ops {
		switch {
		case o.Kind == zkconn.OpDelete && err == nil:
			all.deleted = append(all.deleted, o.Path)
		case o.Kind != zkconn.OpCreate || !o.Ephemeral:
		case err == nil && i < len(results):
			all.made = append(all.made, results[i].Path)
		case x.undecided && !o.Sequential:
			all.made = append(all.made, o.Path)
		case x.undecided:
			all.unnamed += x.weightOf(o)
		}
	}
	if weight > 0 || len(all.deleted) > 0 {
		x.session.system.Root.Send(x.session.pid, all)
	}
}

const sequenceDigits = 10

func (s *session) admit(w *weighing) {
	switch {
	case s.ending || w.epoch != s.info.epoch: // it is not sent
		w.answer <- nil
	case s.decides.Room(w.weight):
		s.apply(coordinator.Others{Change: w.weight}, 0)
		w.answer <- nil
	default:
		w.answer <- fmt.Errorf("%w: no room for %d bytes more", ErrSessionFull, w.weight)
	}
}

func (s *session) settle(w *weighed) {
	if s.ending || w.epoch != s.info.epoch {
		return
	}
	change := w.unnamed - w.kept
	for _, path := range w.made {
		if weight := coordinator.WeightOf(s.Absolute(path)); s.others[path] == 0 {
			s.others[path] = weight
			change += weight
		}
	}
	for _, path := range w.deleted {
		change -= s.others[path]
		delete(s.others, path)
	}
	if change != 0 {
		s.apply(coordinator.Others{Change: change}, 0)
	}
}
