package interop

import (
	"context"
	"errors"
	"reflect"
	"testing"

	"github.com/go-zookeeper/zk"
	"github.com/stretchr/testify/require"

	"github.com/turnstile-locks/turnstile/locks"
	"github.com/turnstile-locks/turnstile/messages"
	"github.com/turnstile-locks/turnstile/tests/patient"
)

// turnstile is Turnstile with its usual names: those of Curator and go-zookeeper.
var turnstile = turnstileNamed(messages.CuratorNaming)

// turnstileNamed is Turnstile's Mutex and RWMutex with the names of others, and its Semaphore, which has
// names of its own.
func turnstileNamed(naming messages.Naming) goClient {
	return func(t *testing.T, job Job) func(Recipe) acquire {
		t.Helper()
		client := openTurnstile(t, job.Connect)
		readWrite := client.RWMutex(job.Path, locks.WithNaming(naming))
		ways := map[Recipe]func(context.Context) (*locks.Lease, error){
			Mutex: client.Mutex(job.Path, locks.WithNaming(naming)).Lock,
			Read:  readWrite.RLock,
			Write: readWrite.Lock,
			Semaphore: func(ctx context.Context) (*locks.Lease, error) {
				return client.Semaphore(job.Path, max(job.Permits, 1)).Acquire(ctx, 1)
			},
		}
		return func(recipe Recipe) acquire {
			require.Contains(t, ways, recipe)
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

// openTurnstile opens a client that is closed with the test.
var openTurnstile = patient.Open

// zkLock is go-zookeeper's Lock. It is an object of one goroutine, and waits without an end: a context
// that ends closes its connection, which ends it.
func zkLock(t *testing.T, job Job) func(Recipe) acquire {
	t.Helper()
	conn := connect(t, job.Connect)
	return func(Recipe) acquire {
		lock := zk.NewLock(conn, job.Path, zk.WorldACL(zk.PermAll))
		return func(ctx context.Context) (held, error) {
			stop := context.AfterFunc(ctx, conn.Close)
			defer stop()
			if err := lock.Lock(); err != nil {
				return held{}, err
			}
			node, err := nodeOf(lock)
			return held{node: node, release: func(context.Context) error { return lock.Unlock() }}, err
		}
	}
}

// nodeOf is the path of the node by which a Lock of go-zookeeper's holds, which it does not export.
func nodeOf(lock *zk.Lock) (string, error) {
	field := reflect.ValueOf(lock).Elem().FieldByName("lockPath")
	if field.Kind() != reflect.String || field.Len() == 0 {
		return "", errors.New("zk.Lock does not keep its node in lockPath any more")
	}
	return field.String(), nil
}
