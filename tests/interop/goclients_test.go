package interop

import (
	"context"
	"errors"
	"reflect"
	"testing"
	"time"

	"github.com/go-zookeeper/zk"
	"github.com/stretchr/testify/require"

	"github.com/turnstile-locks/turnstile/locks"
)

// turnstile is Turnstile's Mutex.
func turnstile(t *testing.T, job Job) func(Recipe) acquire {
	t.Helper()
	mutex := openTurnstile(t, job.Connect).Mutex(job.Path)
	return func(Recipe) acquire {
		return func(ctx context.Context) (held, error) {
			lease, err := mutex.Lock(ctx)
			if err != nil {
				return held{}, err
			}
			return held{node: lease.Node(), release: lease.Unlock}, nil
		}
	}
}

func openTurnstile(t *testing.T, addr string) *locks.Client {
	t.Helper()
	// Long, so that no lease runs out because the machine is slow.
	client, err := locks.Open(deadline(t), addr, locks.WithSessionTimeout(30*time.Second))
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, client.Close(deadline(t))) })
	return client
}

// zkLock is go-zookeeper's Lock. It is an object of one goroutine, and waits without an end: closing
// its connection ends it.
func zkLock(t *testing.T, job Job) func(Recipe) acquire {
	t.Helper()
	conn := connect(t, job.Connect)
	return func(Recipe) acquire {
		lock := zk.NewLock(conn, job.Path, zk.WorldACL(zk.PermAll))
		return func(context.Context) (held, error) {
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
