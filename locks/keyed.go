package locks

import (
	"context"
	"slices"

	"github.com/turnstile-locks/turnstile/messages"
)

// Keyed is an exclusive lock for each key below one root. Any string is a key: an order's number, a host, a file's path,
// the empty string, bytes that are no text. Its methods may be called from any goroutine.
//
//	orders := client.Keyed("/orders", locks.WithLabel(host))
//	lease, err := orders.Lock(ctx, id)
//
// The lock path of a key is root and one name, which people can read in `zklock tree`:
//
//   - Characters that print stand for themselves: "tenant:7, Köln" is the name, too.
//   - The others, / and %, and a space at either end are escaped byte by byte, as in URLs: "a/b" is a%2Fb.
//   - So is the first byte of the keys ".", ".." and "zookeeper", and the last one where the name would be read as a
//     contender's node. The empty key is %(empty).
//   - What is then longer than 128 bytes is cut, after 61 at most, and ends with %(, the SHA-256 of the key and ). To find
//     it: printf %s "$key" | sha256sum.
//
// Different keys have different lock paths, as long as nobody finds two strings with one SHA-256. Keys are bytes: two that
// look alike, such as an é of one character and of two, are two keys. The servers delete a lock path some time after its
// last contender has gone.
type Keyed struct {
	client *Client
	root   string
	opts   []LockOption
	named  *Named
}

// Keyed gives the locks by key below a root: a lock path, or "/". The options are those of each lock. A bad root is
// refused by Lock.
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
	l := newLock(k.client, messages.Acquire{Path: k.Path(key)}, k.opts)
	if tell := l.onLost; tell != nil {
		l.onLost = func(_ string, err error) { tell(key, err) }
	}
	return &Mutex{l}
}

// Path gives the lock path of a key, for Client.Queue, Revoke and Break, and for zklock.
func (k *Keyed) Path(key string) string {
	switch k.root {
	case "/":
		return "/" + nameOfKey(key)
	case "": // which Lock refuses
		return nameOfKey(key)
	}
	return k.root + "/" + nameOfKey(key)
}

// ByName gives the same locks for callers that keep no lease: always the same Named.
func (k *Keyed) ByName() *Named { return k.named }
