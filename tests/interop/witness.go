package interop

import (
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"sync"
)

// Witness knows which holders are inside of which locks, and judges whether they may be. It sees
// nothing of ZooKeeper. Its methods may be called from several goroutines.
//
// A holder reports that it is inside after it has acquired, and that it leaves before it releases.
// So holders that are inside together by this account do hold at the same time: the witness may
// miss an overlap, but never invents one.
type Witness struct {
	mu         sync.Mutex // guards what follows
	places     map[string]map[string]Claim
	orders     map[string]*order
	entries    []Entry
	violations []string
	detained   map[string]*detention
}

// Entry is a holder that came in.
type Entry struct {
	Holder, Place string
	Claim         Claim
	Node          string // by which it holds, where it said so
}

// detention keeps a holder inside.
type detention struct {
	enter func()        // says that the holder is inside
	free  chan struct{} // closed when it may go on
}

// NewWitness returns a witness that nobody can reach yet but this process: see
// [ServeWitness] and [StartWitness].
func NewWitness() *Witness {
	return &Witness{
		places: map[string]map[string]Claim{}, orders: map[string]*order{}, detained: map[string]*detention{},
	}
}

// Enter records that a holder is inside, and returns what is wrong about it. A
// holder that may not be inside is recorded all the same, since it is there.
func (w *Witness) Enter(holder, place string, claim Claim) error {
	return w.EnterWith("", holder, place, claim)
}

// EnterWith is [Witness.Enter] of a holder that names the sequential node by which it holds: then
// the witness also judges whether it came in by order of sequence numbers. An empty name is not
// judged, nor are semaphores, whose free permits any client may take.
func (w *Witness) EnterWith(node, holder, place string, claim Claim) error {
	w.mu.Lock()
	defer w.mu.Unlock()
	inside := w.inside(place)
	if _, twice := inside[holder]; twice {
		return w.violated("%s enters %s and is inside already", holder, place)
	}
	err := w.judge(holder, place, claim)
	inside[holder] = claim
	w.entries = append(w.entries, Entry{holder, place, claim, node})
	if node != "" && claim.permits() == 0 {
		err = errors.Join(err, w.judgeOrder(node, holder, place, claim))
	}
	if d, ok := w.detained[holder]; ok {
		d.enter()
	}
	return err
}

// Change records that a holder that is inside has another claim from now on: a
// writer that becomes a reader without leaving.
func (w *Witness) Change(holder, place string, claim Claim) error {
	w.mu.Lock()
	defer w.mu.Unlock()
	inside := w.inside(place)
	if _, ok := inside[holder]; !ok {
		return w.violated("%s changes its claim on %s and is not inside", holder, place)
	}
	delete(inside, holder)
	err := w.judge(holder, place, claim)
	inside[holder] = claim
	return err
}

// Leave records that a holder is about to release.
func (w *Witness) Leave(holder, place string) error {
	w.mu.Lock()
	defer w.mu.Unlock()
	inside := w.inside(place)
	if _, ok := inside[holder]; !ok {
		return w.violated("%s leaves %s and is not inside", holder, place)
	}
	delete(inside, holder)
	return nil
}

// inside returns those inside a place, to be changed with the mutex held.
func (w *Witness) inside(place string) map[string]Claim {
	if w.places[place] == nil {
		w.places[place] = map[string]Claim{}
	}
	return w.places[place]
}

// judge says what is wrong about one more holder.
func (w *Witness) judge(holder, place string, claim Claim) error {
	inside := w.places[place]
	for _, other := range slices.Sorted(maps.Keys(inside)) {
		if inside[other] != claim || claim == exclusive {
			return w.violated("%s enters %s (%s) while %s is inside (%s)",
				holder, place, claim, other, inside[other])
		}
	}
	if limit := claim.permits(); limit > 0 && len(inside) >= limit {
		return w.violated("%s enters %s (%s) with %s inside",
			holder, place, claim, strings.Join(slices.Sorted(maps.Keys(inside)), ", "))
	}
	return nil
}

// judgeOrder names a holder that was overtaken.
func (w *Witness) judgeOrder(node, holder, place string, claim Claim) error {
	sequence, ok := Sequence(node)
	if !ok {
		return w.violated("%s enters %s with %s, which has no sequence number", holder, place, node)
	}
	if w.orders[place] == nil {
		w.orders[place] = &order{}
	}
	if before, overtaken := w.orders[place].overtaken(arrival{holder, node, sequence}, claim); overtaken {
		return w.violated("%s enters %s with %s (%s) after %s with %s",
			holder, place, node, claim, before.holder, before.node)
	}
	return nil
}

func (w *Witness) violated(format string, args ...any) error {
	err := fmt.Errorf("interop: "+format, args...)
	w.violations = append(w.violations, err.Error())
	return err
}

// Violations returns all that was wrong, in order.
func (w *Witness) Violations() []string {
	w.mu.Lock()
	defer w.mu.Unlock()
	return slices.Clone(w.violations)
}

// Entries returns who came in, in order.
func (w *Witness) Entries() []Entry {
	w.mu.Lock()
	defer w.mu.Unlock()
	return slices.Clone(w.entries)
}

// Inside returns the holders that are inside of anything.
func (w *Witness) Inside() []string {
	w.mu.Lock()
	defer w.mu.Unlock()
	var all []string
	for place, inside := range w.places {
		for holder := range inside {
			all = append(all, holder+" in "+place)
		}
	}
	slices.Sort(all)
	return all
}

// gone takes a holder that cannot leave any more for one that has left.
func (w *Witness) gone(holder, place string) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if _, ok := w.places[place][holder]; ok {
		_ = w.violated("%s is gone and never left %s", holder, place)
		delete(w.places[place], holder)
	}
}

// Detain keeps the holder of this name inside, from when it enters next until release is called;
// inside is closed once it is there. The holder waits for the answer to its report, or in [Witness.await].
func (w *Witness) Detain(holder string) (inside <-chan struct{}, release func()) {
	w.mu.Lock()
	defer w.mu.Unlock()
	came, free := make(chan struct{}), make(chan struct{})
	w.detained[holder] = &detention{sync.OnceFunc(func() { close(came) }), free}
	return came, sync.OnceFunc(func() { close(free) })
}

// await blocks while the holder is detained.
func (w *Witness) await(holder string, stopped <-chan struct{}) {
	w.mu.Lock()
	d := w.detained[holder]
	w.mu.Unlock()
	if d == nil {
		return
	}
	select {
	case <-d.free:
	case <-stopped:
	}
}
