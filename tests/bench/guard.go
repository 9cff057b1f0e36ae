package main

import (
	"errors"
	"fmt"
	"os"
	"runtime"
	"sync/atomic"
	"syscall"
	"time"
	"unsafe"
)

// errTwoHolders says that a lock let in two at once.
var errTwoHolders = errors.New("bench: two held one lock at once")

// The words of a guard. Those of a guard in a file are also known to the workers in Java and Python.
const (
	wordHolder   = iota // number of the holder, from 1; 0 for nobody
	wordStop            // not 0: everybody is to end
	wordGrants          // how many there were; read and written by holders only
	wordArrived         // how many workers have held; likewise
	wordReleased        // when the last holder gave back, by this process's clock
	wordBy              // its number
	// In a file, the grants of each process follow, from the first on.
	wordProcess
	guardWords = wordProcess + guardProcesses
)

// guardProcesses is the number of processes that may share a guard.
const guardProcesses = 16

// guard watches over one lock: it finds out when two hold it at once, counts the grants, and knows when the last
// holder called Unlock. It costs two atomic operations and a call of the scheduler, which gives a second holder the
// chance to be seen.
type guard struct {
	words   *[guardWords]int64
	process int // the number of this process among those that share the guard
}

func newGuard() *guard { return &guard{words: new([guardWords]int64)} }

// openGuards are n guards in a file that several processes have mapped, counted from 0.
func openGuards(file string, process, n int) (all []*guard, unmap func(), err error) {
	if process >= guardProcesses {
		return nil, nil, fmt.Errorf("bench: a guard of more than %d processes", guardProcesses)
	}
	f, err := os.OpenFile(file, os.O_RDWR|os.O_CREATE, 0o600)
	if err != nil {
		return nil, nil, fmt.Errorf("bench: guard: %w", err)
	}
	defer f.Close()
	const size = int(unsafe.Sizeof([guardWords]int64{}))
	if err := f.Truncate(int64(n * size)); err != nil {
		return nil, nil, fmt.Errorf("bench: guard: %w", err)
	}
	pages, err := syscall.Mmap(int(f.Fd()), 0, n*size, syscall.PROT_READ|syscall.PROT_WRITE, syscall.MAP_SHARED)
	if err != nil {
		return nil, nil, fmt.Errorf("bench: map the guard: %w", err)
	}
	for i := range n {
		all = append(all, &guard{(*[guardWords]int64)(unsafe.Pointer(&pages[i*size])), process})
	}
	return all, func() { _ = syscall.Munmap(pages) }, nil
}

func (g *guard) load(word int) int64      { return atomic.LoadInt64(&g.words[word]) }
func (g *guard) store(word int, to int64) { atomic.StoreInt64(&g.words[word], to) }
func (g *guard) swap(from, to int64) bool {
	return atomic.CompareAndSwapInt64(&g.words[wordHolder], from, to)
}

// total sums a word of guards.
func total(guards []*guard, word int) (sum int64) {
	for _, g := range guards {
		sum += g.load(word)
	}
	return sum
}

// epoch is the zero of the guards' clock.
var epoch = time.Now()

func instant() int64 { return int64(time.Since(epoch)) }

// enter is called by a worker, numbered from 1, that was granted the lock at an instant. It gives the time since
// another worker called Unlock; handed is false where there was no other before it.
func (g *guard) enter(me, at int64) (latency time.Duration, handed bool, err error) {
	if !g.swap(0, me) {
		return 0, false, fmt.Errorf("%w: worker %d was let in beside worker %d", errTwoHolders, me, g.load(wordHolder))
	}
	by := g.load(wordBy)
	return time.Duration(at - g.load(wordReleased)), by != 0 && by != me, nil
}

// leave is called by the holder right before it unlocks.
func (g *guard) leave(me int64) error {
	grants := g.load(wordGrants)
	runtime.Gosched()
	g.store(wordGrants, grants+1)
	g.store(wordProcess+g.process, g.load(wordProcess+g.process)+1)
	g.store(wordBy, me)
	if g.load(wordHolder) != me {
		return fmt.Errorf("%w: worker %d is beside worker %d", errTwoHolders, g.load(wordHolder), me)
	}
	g.store(wordReleased, instant())
	if !g.swap(me, 0) {
		return fmt.Errorf("%w: worker %d came in while worker %d held", errTwoHolders, g.load(wordHolder), me)
	}
	return nil
}

// arrive is called by a holder when it holds for the first time.
func (g *guard) arrive() { g.store(wordArrived, g.load(wordArrived)+1) }

// settle compares the guards' count with the workers': a write of a holder that another one overwrote is missing.
func settle(guards []*guard, grants int) error {
	if counted := total(guards, wordGrants); counted != int64(grants) {
		return fmt.Errorf("%w: of %d grants %d were counted under the lock", errTwoHolders, grants, counted)
	}
	return nil
}
