// Package told calls what users are told by: log handlers, instruments, spans. Each kind has a
// queue and a goroutine, so a handler that is stuck, slow or panics holds up only its own queue.
// That is bounded: what has no room is dropped, and counted.
package told

import (
	"context"
	"sync"
	"time"
)

// Most is the number of values that wait in a queue of logs, measurements or spans.
const Most = 1 << 14

const kept = 64

// Queue hands values over in order, on a goroutine that lives while there are any. Safe for
// concurrent use.
type Queue[T any] struct {
	do     func(T)
	most   int
	failed func(r any)

	mu      sync.Mutex
	batch   []item[T]
	at      int
	waiting []item[T]
	running bool
	untold  int64
}

// item is a value, or a mark of Wait behind the values that were told before.
type item[T any] struct {
	value T
	mark  chan struct{}
}

// NewQueue makes a queue that gives its values to do. Above most, further values are dropped; zero
// sets no bound. failed, if not nil, is given what do panics with.
func NewQueue[T any](most int, do func(T), failed func(r any)) *Queue[T] {
	return &Queue[T]{do: do, most: most, failed: failed}
}

// NewCalls makes a queue of functions.
func NewCalls(most int, failed func(r any)) *Queue[func()] {
	return NewQueue(most, func(call func()) { call() }, failed)
}

// Tell queues a value, and returns at once.
func (q *Queue[T]) Tell(value T) { q.Offer(value, q.most) }

// Offer is Tell with another bound, for a value that may be dropped sooner than others.
func (q *Queue[T]) Offer(value T, most int) {
	q.mu.Lock()
	defer q.mu.Unlock()
	if most > 0 && len(q.batch)-q.at+len(q.waiting) >= most {
		q.untold++
		return
	}
	q.put(item[T]{value: value})
}

func (q *Queue[T]) put(i item[T]) {
	q.waiting = append(q.waiting, i)
	if !q.running {
		q.running = true
		go q.run()
	}
}

// Wait waits until all that was told before has been handed over, and reports that; false when ctx
// ends first.
func (q *Queue[T]) Wait(ctx context.Context) (all bool) {
	q.mu.Lock()
	if !q.running {
		q.mu.Unlock()
		return true
	}
	mark := make(chan struct{})
	q.put(item[T]{mark: mark})
	q.mu.Unlock()
	select {
	case <-mark:
		return true
	case <-ctx.Done():
		return false
	}
}

const longest = time.Second

// Closing bounds the wait of a Close for what is still to be told: to a second where its ctx has no
// deadline.
func Closing(ctx context.Context) (context.Context, context.CancelFunc) {
	if _, bounded := ctx.Deadline(); bounded {
		return ctx, func() {}
	}
	return context.WithTimeout(ctx, longest)
}

// Untold counts the values that were dropped, and those whose handler panicked.
func (q *Queue[T]) Untold() int64 {
	q.mu.Lock()
	defer q.mu.Unlock()
	return q.untold
}

func (q *Queue[T]) count() {
	q.mu.Lock()
	defer q.mu.Unlock()
	q.untold++
}

func (q *Queue[T]) run() {
	done := false
	defer func() {
		if !done { // a handler has ended its goroutine, as t.FailNow does
			q.count()
			go q.run()
		}
	}()
	for {
		next, some := q.next()
		switch {
		case !some:
			done = true
			return
		case next.mark != nil:
			close(next.mark)
		default:
			q.hand(next.value)
		}
	}
}

func (q *Queue[T]) hand(value T) {
	defer func() {
		if r := recover(); r != nil {
			q.count()
			if q.failed != nil {
				q.failed(r)
			}
		}
	}()
	q.do(value)
}

func (q *Queue[T]) next() (i item[T], some bool) {
	q.mu.Lock()
	defer q.mu.Unlock()
	if q.at == len(q.batch) {
		q.batch, q.waiting, q.at = q.waiting, q.batch[:0], 0
	}
	if q.running = len(q.batch) > 0; !q.running {
		if cap(q.batch) > kept || cap(q.waiting) > kept {
			q.batch, q.waiting = nil, nil
		}
		return i, false
	}
	i, q.batch[q.at] = q.batch[q.at], i
	q.at++
	return i, true
}
