package mailbox

import (
	"sync"
	"sync/atomic"
)

// Workers are goroutines that outlive the work they are given. A goroutine that is made for each piece begins with a
// small stack and copies it as it grows, which was a quarter of what a hand-off cost.
type Workers struct {
	tasks chan func()
	over  chan struct{}
	once  sync.Once
	idle  atomic.Int32
}

// idleWorkers bounds how many wait for more work.
const idleWorkers = 16

// NewWorkers makes workers; none runs yet.
func NewWorkers() *Workers {
	return &Workers{tasks: make(chan func()), over: make(chan struct{})}
}

// Do has a worker carry out a task, at once: an idle one if there is any.
func (w *Workers) Do(task func()) {
	select {
	case w.tasks <- task:
	default:
		go w.work(task)
	}
}

func (w *Workers) work(task func()) {
	for {
		task()
		if w.idle.Add(1) > idleWorkers {
			w.idle.Add(-1)
			return
		}
		select {
		case task = <-w.tasks:
			w.idle.Add(-1)
		case <-w.over:
			return
		}
	}
}

// End lets the idle ones go, and the others once they have done their tasks.
func (w *Workers) End() { w.once.Do(func() { close(w.over) }) }
