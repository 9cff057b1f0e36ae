package interop

import (
	"context"
	"errors"
	"fmt"
	"reflect"
	"strings"
	"sync"
	"testing"

	"github.com/go-zookeeper/zk"
	"github.com/stretchr/testify/require"

	"github.com/turnstile-locks/turnstile/locks"
	"github.com/turnstile-locks/turnstile/messages"
	"github.com/turnstile-locks/turnstile/tests/scene"
)

// goClient is a client of this process. It opens a session for a job, and gives how a goroutine that
// uses the session acquires by a recipe, for which it waits as long as it takes.
type goClient func(t *testing.T, job Job) (with func(recipe Recipe) acquire)

type acquire func(ctx context.Context) (held, error)

// held is a lock that is held: by which node, and how to give it back.
type held struct {
	node    string
	release func(ctx context.Context) error
}

// turnstileNamed is Turnstile's Mutex and RWMutex with the names of others, and its Semaphore, which has
// names of its own.
func turnstileNamed(naming messages.Naming) goClient {
	return func(t *testing.T, job Job) func(Recipe) acquire {
		t.Helper()
		client := scene.Open(t, job.Connect)
		readWrite := client.RWMutex(job.Path, locks.WithNaming(naming))
		ways := map[Recipe]func(context.Context) (*locks.Lease, error){
			Mutex: client.Mutex(job.Path, locks.WithNaming(naming)).Lock,
			Read:  readWrite.RLock,
			Write: readWrite.Lock,
			Semaphore: func(ctx context.Context) (*locks.Lease, error) {
				return client.Semaphore(job.Path, 1).Acquire(ctx, 1)
			},
		}
		return func(recipe Recipe) acquire {
			return func(ctx context.Context) (held, error) {
				lease, err := ways[recipe](ctx)
				if err != nil {
					return held{}, err
				}
				return held{node: lease.Node(), release: lease.Unlock}, nil
			}
		}
	}
}

// zkLock is go-zookeeper's Lock. It is an object of one goroutine, and waits without an end: a context
// that ends closes its connection, which ends it.
func zkLock(t *testing.T, job Job) func(Recipe) acquire {
	t.Helper()
	addr, root, _ := strings.Cut(job.Connect, "/")
	conn := scene.Raw(t, scene.Session, addr)
	return func(Recipe) acquire {
		lock := zk.NewLock(conn, "/"+root+job.Path, zk.WorldACL(zk.PermAll))
		return func(ctx context.Context) (held, error) {
			stop := context.AfterFunc(ctx, conn.Close)
			defer stop()
			if err := lock.Lock(); err != nil {
				return held{}, err
			}
			// The path of its node, which it does not export.
			node := reflect.ValueOf(lock).Elem().FieldByName("lockPath")
			if node.Kind() != reflect.String || node.Len() == 0 {
				return held{}, errors.New("zk.Lock does not keep its node in lockPath any more")
			}
			return held{node: node.String(), release: func(context.Context) error { return lock.Unlock() }}, nil
		}
	}
}

// startHere has goroutines of this process do a contest as the threads of a [Worker] would.
func startHere(t *testing.T, client goClient, witness *WitnessServer, job Job) <-chan error {
	t.Helper()
	ctx, cancel := context.WithCancel(within(t, job))
	var running sync.WaitGroup
	threads := max(job.Threads, 1)
	errs := make([]error, max(job.Sessions, 1)*threads)
	for session := range max(job.Sessions, 1) {
		with := client(t, job)
		for thread := range threads {
			holder, cycle := job.Holder(session+1, thread+1), cycleOf(job.Recipe, with)
			running.Go(func() {
				for round := range max(job.Rounds, 1) {
					// They are not all at the same place of the cycle.
					if err := cycle[(session+thread+round)%len(cycle)].hold(ctx, witness, holder, job.Path); err != nil {
						errs[session*threads+thread] = fmt.Errorf("%s: %w", holder, err)
						cancel() // as the other clients' contests end with the first failure
						return
					}
				}
			})
		}
	}
	done := make(chan error, 1)
	go func() {
		defer cancel()
		running.Wait()
		done <- errors.Join(errs...)
	}()
	return done
}

// turn is what a goroutine acquires in a round.
type turn struct {
	acquire acquire
	claim   Claim
}

func cycleOf(recipe Recipe, with func(Recipe) acquire) []turn {
	switch recipe {
	case ReadWrite:
		return []turn{{with(Read), shared}, {with(Read), shared}, {with(Write), exclusive}}
	case Read:
		return []turn{{with(Read), shared}}
	case Semaphore:
		return []turn{{with(Semaphore), OneOf(1)}}
	}
	return []turn{{with(recipe), exclusive}}
}

func (o turn) hold(ctx context.Context, witness *WitnessServer, holder, path string) error {
	held, err := o.acquire(ctx)
	if err != nil {
		return err
	}
	err = witness.EnterWith(held.node, holder, path, o.claim)
	witness.await(holder, ctx.Done())
	return errors.Join(err, witness.Leave(holder, path), held.release(ctx))
}

// start has a worker do a job, with as many holds as it asks for.
func start(t *testing.T, w *Worker, job Job) <-chan error {
	done := make(chan error, 1)
	ctx := within(t, job)
	go func() {
		summary, err := w.Run(ctx, job)
		if total := max(job.Sessions, 1) * max(job.Threads, 1) * max(job.Rounds, 1); err == nil && summary.Acquired != total {
			err = fmt.Errorf("%s held %d times instead of %d", job.Name, summary.Acquired, total)
		}
		done <- err
	}()
	return done
}

// member is a client of a test: elsewhere, or in this process.
type member struct {
	name    string
	worker  sharedWorker
	client  goClient
	names   string
	library messages.Library // whose its nodes are taken to be
}

var (
	ours        = member{name: "turnstile", client: turnstileNamed(messages.CuratorNaming), library: messages.LibraryTurnstile}
	oursAsKazoo = member{name: "turnstile", client: turnstileNamed(messages.KazooNaming), library: messages.LibraryTurnstile}
	goLock      = member{name: "go-zookeeper", client: zkLock, library: messages.LibraryGoZookeeper}
	java        = member{name: "curator", worker: curator, library: messages.LibraryCurator}
	python      = member{name: "kazoo", worker: kazooed, library: messages.LibraryKazoo}
	// A kazoo with names of somebody else's looks like the recipe of ZooKeeper's documentation.
	renamed   = member{name: "kazoo-renamed", worker: kazooed, names: CuratorNames, library: messages.LibraryRecipe}
	patterned = member{name: "kazoo-patterns", worker: kazooed, names: ExtraPatterns, library: messages.LibraryKazoo}
)

// job is a job of the member's on a server, which a witness is told of.
func (m member) job(s *server, witness *WitnessServer, recipe Recipe, path string) Job {
	return Job{Name: m.name, Names: m.names, Recipe: recipe, Connect: s.Connect(), Path: path, Witness: witness.Addr()}
}

// start has the member do a job.
func (m member) start(t *testing.T, witness *WitnessServer, job Job) <-chan error {
	t.Helper()
	if m.client != nil {
		return startHere(t, m.client, witness, job)
	}
	return start(t, m.worker(t), job)
}

// detained has the member hold, until release is called, which waits for its end.
func (m member) detained(t *testing.T, witness *WitnessServer, job Job) (release func()) {
	t.Helper()
	inside, free := witness.Detain(job.Holder(1, 1))
	t.Cleanup(free)
	holding := m.start(t, witness, job)
	scene.Receive(t, inside)
	return func() {
		free()
		require.NoError(t, scene.Receive(t, holding))
	}
}
