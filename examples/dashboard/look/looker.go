package look

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/asynkron/protoactor-go/actor"

	"github.com/turnstile-locks/turnstile/examples/dashboard/board"
	"github.com/turnstile-locks/turnstile/locks"
	"github.com/turnstile-locks/turnstile/messages"
)

// Settings are the settings of a looker.
type Settings struct {
	// Root is below which node locks are looked for; "/" is all.
	Root string
	// Every is the pause between two looks at the tree; deadlocks are looked for every two.
	Every time.Duration
	// Suspect is the time for which a possible deadlock must have been seen, with the same nodes,
	// before it is shown: in processes with several workers, a circle that lasts is more likely to
	// be a deadlock.
	Suspect time.Duration
	// Most is the number of queues that are followed at a time. Of the other locks there are counts
	// only.
	Most int
}

// Looker looks at locks. Its methods may be called from any goroutine.
type Looker struct {
	Settings
	client   *locks.Client
	board    *board.Board
	follower *actor.PID
	wait     sync.WaitGroup
	cancel   context.CancelFunc
	suspects map[string]time.Time // possible deadlocks, and since when they are seen

	mu     sync.Mutex
	opened map[string]int // the locks whose pages are open, and how many of each
	known  map[string]bool
	locks  []messages.LockCount
	failed map[string]error // by question: why it had no answer
}

// Start begins to look, and tells a board of it until Close.
func Start(client *locks.Client, to *board.Board, s Settings) *Looker {
	ctx, cancel := context.WithCancel(context.Background())
	l := &Looker{Settings: s, client: client, board: to, cancel: cancel,
		opened: map[string]int{}, known: map[string]bool{}, failed: map[string]error{}}
	l.follower = client.System().Root.Spawn(actor.PropsFromProducer(func() actor.Actor {
		return newFollower(client.Session().PID(), to)
	}))
	for _, run := range []func(context.Context){l.lookAtTree, l.lookForDeadlocks, l.lookForTrouble, l.lookAtSession} {
		l.wait.Go(func() { run(ctx) })
	}
	return l
}

// Close ends looking. It does not close the client.
func (l *Looker) Close() {
	l.cancel()
	l.wait.Wait()
	_ = l.client.System().Root.StopFuture(l.follower).Wait()
}

// Open says that somebody looks at a lock's page, until the function that it gives is called: it is followed before
// others, also where nobody contends for it.
func (l *Looker) Open(path string) (closed func()) {
	l.mu.Lock()
	l.opened[path]++
	l.mu.Unlock()
	l.choose()
	return sync.OnceFunc(func() {
		l.mu.Lock()
		defer l.mu.Unlock()
		if l.opened[path]--; l.opened[path] == 0 {
			delete(l.opened, path)
		}
	})
}

func (l *Looker) lookAtTree(ctx context.Context) {
	start := time.Now()
	for ctx.Err() == nil {
		began := time.Now()
		tree, err := l.client.Locks(ctx, l.Root)
		if l.note("tree", err); err == nil {
			l.board.TakeTree(time.Now(), tree)
			l.mu.Lock()
			l.locks = tree.Locks
			l.mu.Unlock()
			l.choose()
		}
		pause := l.Every
		if time.Since(start) < hasty {
			pause = min(pause, shortest)
		}
		sleep(ctx, rest(pause, time.Since(began)))
	}
}

func (l *Looker) lookForDeadlocks(ctx context.Context) {
	for ctx.Err() == nil {
		began := time.Now()
		found, possible, err := l.client.PossibleDeadlocks(ctx, l.Root)
		if l.note("deadlocks", err); err == nil {
			l.board.TakeDeadlocks(found, l.lasting(time.Now(), possible))
		}
		sleep(ctx, rest(2*l.Every, time.Since(began)))
	}
}

// lasting gives the possible deadlocks that have been seen for long.
func (l *Looker) lasting(now time.Time, possible []messages.Deadlock) []messages.Deadlock {
	before := l.suspects
	l.suspects = map[string]time.Time{}
	return slices.DeleteFunc(possible, func(d messages.Deadlock) bool {
		var nodes strings.Builder
		for _, m := range d.Members {
			fmt.Fprintln(&nodes, m.Keeps.At(), m.Waits.At())
		}
		since, known := before[nodes.String()]
		if !known {
			since = now
		}
		l.suspects[nodes.String()] = since
		return now.Sub(since) < l.Suspect
	})
}

// note keeps why a question had no answer, until it has one.
func (l *Looker) note(question string, err error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.failed[question] = err; err == nil {
		delete(l.failed, question)
	}
}

// errProbe is given to Session.Explain, which adds the cause of a silence to it.
var errProbe = errors.New("no answer")

// lookForTrouble tells of a session without a connection, of questions without an answer, and when all is well again.
func (l *Looker) lookForTrouble(ctx context.Context) {
	bad := 0
	for ctx.Err() == nil {
		why := l.trouble()
		if bad++; why == "" {
			bad = 0
		}
		if bad != 1 { // what is over in a moment is not told
			l.board.TakeTrouble(why)
		}
		sleep(ctx, 500*time.Millisecond)
	}
}

// lookAtSession follows the looker's own session: each phase of its connection when it begins, and
// the proofs that the session lives, at the pace of a page.
func (l *Looker) lookAtSession(ctx context.Context) {
	for ctx.Err() == nil {
		state, changed := l.client.Session().Connection()
		l.board.TakeSession(time.Now(), state)
		select {
		case <-ctx.Done():
		case <-changed:
		case <-time.After(proofPace):
		}
	}
}

// trouble says why nothing new is seen just now; "" when all is well.
func (l *Looker) trouble() string {
	session := l.client.Session()
	if err := session.Err(); err != nil {
		return err.Error()
	}
	if err := session.Explain(errProbe); err.Error() != errProbe.Error() {
		return err.Error()
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	for _, question := range []string{"tree", "deadlocks"} {
		if err := l.failed[question]; err != nil {
			return err.Error()
		}
	}
	return ""
}

// choose says which queues to follow: those with an open page; then those with the most waiters,
// where queues that are followed already count double, so that they do not take turns; and then
// queues that were followed and are empty now.
func (l *Looker) choose() {
	l.mu.Lock()
	defer l.mu.Unlock()
	var chosen []string
	taken := map[string]bool{}
	take := func(path string) {
		if !taken[path] && path != "/" && len(chosen) < max(l.Most, len(l.opened)) {
			taken[path] = true
			chosen = append(chosen, path)
		}
	}
	for path := range l.opened {
		take(path)
	}
	weight := func(c messages.LockCount) int {
		if l.known[c.Path] {
			return 2*c.Waiters + 1
		}
		return c.Waiters
	}
	byWaiters := slices.Clone(l.locks)
	slices.SortStableFunc(byWaiters, func(a, b messages.LockCount) int { return weight(b) - weight(a) })
	for _, c := range byWaiters {
		take(c.Path)
	}
	now := time.Now()
	for path := range l.known {
		if !l.board.Over(now, path) {
			take(path)
		}
	}
	l.known = taken
	opened := map[string]bool{}
	for path := range l.opened {
		opened[path] = true
	}
	l.client.System().Root.Send(l.follower, &followThese{chosen, opened})
}

func sleep(ctx context.Context, d time.Duration) {
	select {
	case <-ctx.Done():
	case <-time.After(d):
	}
}
