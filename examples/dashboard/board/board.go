package board

import (
	"maps"
	"slices"
	"sync"
	"time"

	"github.com/turnstile-locks/turnstile/messages"
)

// keepEmpty is the time for which a lock without contenders is remembered.
const keepEmpty = 5 * time.Minute

// Board has the history of the locks as far as it was seen. Its methods may be called from any
// goroutine.
type Board struct {
	mu        sync.Mutex
	root      string
	tracks    map[string]*track
	counts    map[string]count // of the last tree, by lock path
	sorted    []string         // all lock paths, in the order of a tree; nil when they are other ones than before
	log       log
	chain     chain
	deadlocks []messages.Deadlock
	possible  []messages.Deadlock // deadlocks
	unread    []messages.Unread
	truncated bool
	trouble   string
	silences  silences
	looked    time.Time // when the tree was read last; zero before
	first     time.Time // when it was read first
	changed   chan struct{}
}

// count has the counts of a lock path in a tree, its named queues together.
type count struct {
	holders, waiters int
	contest          bool
}

// New makes a board for the locks below a root, of which nothing has been seen.
func New(root string) *Board {
	return &Board{root: root, tracks: map[string]*track{}, counts: map[string]count{}, changed: make(chan struct{})}
}

// Changed gives a channel that is closed when the board changes next.
func (b *Board) Changed() <-chan struct{} {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.changed
}

// stir wakes all that wait for a change. The board is locked.
func (b *Board) stir() {
	close(b.changed)
	b.changed = make(chan struct{})
}

// TakeTree takes what was read of the tree of locks.
func (b *Board) TakeTree(now time.Time, tree *messages.LockTree) {
	b.mu.Lock()
	defer b.mu.Unlock()
	counts := map[string]count{}
	for _, l := range tree.Locks {
		c := counts[l.Path]
		c.holders += l.Holders
		c.waiters += l.Waiters
		c.contest = c.contest || l.Contest
		counts[l.Path] = c
	}
	first := b.first.IsZero()
	if first {
		b.first = now
	}
	same := maps.Equal(counts, b.counts) && slices.Equal(tree.Unread, b.unread) && tree.Truncated == b.truncated
	b.sorted = nil
	b.counts, b.unread, b.truncated, b.looked = counts, tree.Unread, tree.Truncated, now
	if first || !same {
		b.stir()
	}
}

// TakeQueue takes what was read of one queue.
func (b *Board) TakeQueue(now time.Time, q *messages.Queue) {
	b.mu.Lock()
	defer b.mu.Unlock()
	t := b.tracks[q.Path]
	if t == nil {
		t = &track{path: q.Path}
		b.tracks[q.Path], b.sorted = t, nil
	}
	if t.take(now, q, &b.log) {
		b.stir()
	}
}

// TakeDeadlocks takes the deadlocks that were found, and the possible ones.
func (b *Board) TakeDeadlocks(found, possible []messages.Deadlock) {
	b.mu.Lock()
	defer b.mu.Unlock()
	if len(found)+len(possible)+len(b.deadlocks)+len(b.possible) > 0 {
		b.deadlocks, b.possible = shortenedAll(found), shortenedAll(possible)
		b.stir()
	}
}

// TakeTrouble takes why nothing can be read just now; "" when it can.
func (b *Board) TakeTrouble(why string) {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.trouble != why {
		b.trouble = why
		b.stir()
	}
}

// Over reports whether nobody has contended for a lock for so long that it need not be shown any
// more.
func (b *Board) Over(now time.Time, path string) bool {
	b.mu.Lock()
	defer b.mu.Unlock()
	t := b.tracks[path]
	return t != nil && len(t.seen) == 0 && b.counts[path] == (count{}) && now.Sub(t.last) >= keepEmpty
}

// Drop forgets what has been seen of a lock that is not followed any more.
func (b *Board) Drop(path string) {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.tracks[path] != nil {
		delete(b.tracks, path)
		b.sorted = nil
		b.stir()
	}
}

// keepNewest bounds a list whose newest is the last.
func keepNewest[T any](all []T, most int) []T {
	if len(all) < 2*most { // so that what is too old is moved away seldom
		return all
	}
	return slices.Clone(all[len(all)-most:])
}

// newestFirst gives at most so many, the newest first.
func newestFirst[T any](all []T, most int) []T {
	some := slices.Clone(all[max(0, len(all)-most):])
	slices.Reverse(some)
	return some
}
