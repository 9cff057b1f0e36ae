package locks

import (
	"context"
	"errors"
	"slices"
	"sync"

	"github.com/turnstile-locks/turnstile/actors/queue"
	"github.com/turnstile-locks/turnstile/messages"
)

// Keyed is an exclusive lock for each key below one root. Any string is a key. Safe for concurrent
// use.
//
//	orders := client.Keyed("/orders", locks.WithLabel(host))
//	lease, err := orders.Lock(ctx, id)
//
// The lock path of a key is root and a readable name:
//
//   - Characters that print stand for themselves: "tenant:7, Köln" is the name, too.
//   - The others, / and %, and a space at either end are escaped byte by byte, as in URLs: "a/b" is
//     a%2Fb.
//   - So is the first byte of the keys ".", ".." and "zookeeper", and the last one where the name
//     would be read as a contender's node. The empty key is %(empty).
//   - A name that is then longer than 128 bytes is cut, after 61 at most, and ends with %(, the
//     SHA-256 of the key and ). To find it: printf %s "$key" | sha256sum.
//
// Different keys have different lock paths. Keys are bytes: an é of one character and one of two
// are two keys. The servers delete a lock path some time after its last contender.
type Keyed struct {
	client *Client
	root   string
	opts   []LockOption
	named  *Named
}

// Keyed gives the locks by key below a root: a lock path, or "/". Each lock has these options. A
// bad root is refused by Lock.
func (c *Client) Keyed(root string, opts ...LockOption) *Keyed {
	k := &Keyed{client: c, root: root, opts: slices.Clone(opts)}
	k.named = &Named{keyed: k, keys: make(map[string]*namedKey)}
	return k
}

// Lock is Mutex.Lock of a key.
func (k *Keyed) Lock(ctx context.Context, key string) (*Lease, error) { return k.Mutex(key).Lock(ctx) }

// TryLock is Mutex.TryLock of a key.
func (k *Keyed) TryLock(ctx context.Context, key string) (*Lease, error) {
	return k.Mutex(key).TryLock(ctx)
}

// Mutex gives the lock of a key, for Do, Try and All.
func (k *Keyed) Mutex(key string) *Mutex {
	l := newLock(forLocking, k.client, messages.Acquire{Path: k.Path(key)}, k.opts)
	if tell := l.onLost; tell != nil {
		l.onLost = func(_ string, err error) { tell(key, err) }
	}
	return &Mutex{l}
}

// Path gives the lock path of a key, for Client.Queue, Revoke and Break, and for zklock.
func (k *Keyed) Path(key string) string {
	switch k.root {
	case "/":
		return "/" + queue.NameOfKey(key)
	case "":
		return queue.NameOfKey(key)
	}
	return k.root + "/" + queue.NameOfKey(key)
}

// ByName gives the same locks for callers that keep no lease: always the same Named.
func (k *Keyed) ByName() *Named { return k.named }

// Named are the locks of a Keyed for callers that keep no lease: they lock and unlock a key by
// name, as many libraries ask, such as certmagic's Locker and TryLocker; OneKey makes it goose's.
// Prefer the leases of Keyed: their contexts end with the lock, and here only WithOnLost and Unlock
// tell of a loss.
//
// Calls for one key wait for each other in order, and one of them queues at the servers: other
// processes have their turn after each hold. A key stays taken here until Unlock, even where the
// lock is lost: otherwise Unlock could give back what another caller has got since. A caller that
// locks a key twice waits for itself. Any goroutine may call Unlock. Unused keys take no memory.
type Named struct {
	keyed *Keyed

	mu   sync.Mutex
	keys map[string]*namedKey
}

type namedKey struct {
	calls int           // that hold it or wait for it here; with the Named's mu
	turn  chan struct{} // full while one of them holds it, or asks the servers for it
	lease *Lease        // from its grant to its Unlock; with the Named's mu
}

// Lock waits until the lock of a key is held, or ctx ends. It returns the errors of Mutex.Lock.
func (n *Named) Lock(ctx context.Context, key string) error {
	at := n.enter(key)
	select {
	case at.turn <- struct{}{}:
		return n.ask(key, at, func() (*Lease, error) { return n.keyed.Lock(ctx, key) })
	case <-ctx.Done():
		return n.leave(key, at, n.waitedHere(key, at, ended(ctx)))
	case <-n.keyed.client.gone:
		return n.leave(key, at, n.waitedHere(key, at, ErrClosed))
	}
}

// TryLock is false where anybody holds the lock or waits for it. Otherwise it returns the errors of
// Mutex.TryLock.
func (n *Named) TryLock(ctx context.Context, key string) (bool, error) {
	at := n.enter(key)
	select {
	case at.turn <- struct{}{}:
	default:
		return false, n.leave(key, at, nil)
	}
	err := n.ask(key, at, func() (*Lease, error) { return n.keyed.TryLock(ctx, key) })
	if errors.Is(err, ErrNotAcquired) {
		return false, nil
	}
	return err == nil, err
}

// Unlock gives the lock of a key back, and does not wait with a ctx that has ended. It wraps
// ErrNotHeld where nobody holds the key here. Otherwise it returns the errors of Lease.Unlock:
// after ErrLost others may have had the lock since. After any error the key is free here, and the
// session goes on deleting the node.
func (n *Named) Unlock(ctx context.Context, key string) error {
	n.mu.Lock()
	at := n.keys[key]
	if at == nil || at.lease == nil {
		n.mu.Unlock()
		return &Error{Op: "unlock", Path: n.keyed.Path(key), Err: ErrNotHeld}
	}
	lease := at.lease
	at.lease = nil
	n.mu.Unlock()
	lease.release() // before the turn: the next call queues behind it, and has the lock handed over
	<-at.turn
	_ = n.leave(key, at, nil)
	return lease.Unlock(ctx)
}

// Lease gives the lease of a key that is held here, for its Token, Valid and Context; else nil. A
// lost lease stays until Unlock.
func (n *Named) Lease(key string) *Lease {
	n.mu.Lock()
	defer n.mu.Unlock()
	if at := n.keys[key]; at != nil {
		return at.lease
	}
	return nil
}

func (n *Named) enter(key string) *namedKey {
	n.mu.Lock()
	defer n.mu.Unlock()
	at := n.keys[key]
	if at == nil {
		at = &namedKey{turn: make(chan struct{}, 1)}
		n.keys[key] = at
	}
	at.calls++
	return at
}

func (n *Named) leave(key string, at *namedKey, err error) error {
	n.mu.Lock()
	defer n.mu.Unlock()
	if at.calls--; at.calls == 0 {
		delete(n.keys, key)
	}
	return err
}

func (n *Named) ask(key string, at *namedKey, lock func() (*Lease, error)) error {
	lease, err := lock()
	if err != nil {
		<-at.turn
		return n.leave(key, at, err)
	}
	n.mu.Lock()
	defer n.mu.Unlock()
	at.lease = lease
	return nil
}

func (n *Named) waitedHere(key string, at *namedKey, why error) error {
	e := &Error{Op: "lock", Path: n.keyed.Path(key), State: messages.StateCreating, Err: why}
	n.mu.Lock()
	defer n.mu.Unlock()
	if at.lease != nil {
		e.Behind = messages.Contender{Path: e.Path, Node: at.lease.Node()}
	}
	return e
}

// OneKey is one key of a Named for libraries whose Lock is given the thing to lock, which is
// ignored: a *sql.DB for goose's Locker, a *sql.Conn for its SessionLocker.
//
//	goose.WithLocker(locks.OneKey[*sql.DB]{Locks: client.Keyed("/migrations").ByName(), Key: "billing"})
type OneKey[T any] struct {
	// Locks is a Client.Keyed(root).ByName(). Key is the one to lock.
	Locks *Named
	Key   string
}

// Lock is Named.Lock of the key.
func (o OneKey[T]) Lock(ctx context.Context, _ T) error { return o.Locks.Lock(ctx, o.Key) }

// Unlock is Named.Unlock of the key.
func (o OneKey[T]) Unlock(ctx context.Context, _ T) error { return o.Locks.Unlock(ctx, o.Key) }

// SessionLock is Named.Lock of the key.
func (o OneKey[T]) SessionLock(ctx context.Context, _ T) error { return o.Locks.Lock(ctx, o.Key) }

// SessionUnlock is Named.Unlock of the key.
func (o OneKey[T]) SessionUnlock(ctx context.Context, _ T) error { return o.Locks.Unlock(ctx, o.Key) }
