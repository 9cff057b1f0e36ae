package locks

import (
	"context"
	"crypto/sha256"
	"fmt"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/turnstile-locks/turnstile/actors/queue"
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

// The name of a key's node, which Keyed documents. An escape is a percent sign and two digits, so that no plain name has
// a percent sign before a parenthesis: those names stand for what has no text, or too much of it.
const (
	// maxKeyName bounds the name in bytes. Each contender's path has it, and the paths of a session's nodes go into the one
	// transaction that ends it: see WithMaxNodeBytes. At this length and with a root of 20 bytes 2 400 keys can be held.
	maxKeyName = 128
	// nameOfEmpty is the name of the empty key.
	nameOfEmpty = "%(empty)"
	// hashedForm is how a name ends that was cut: the SHA-256 of the key, in hexadecimal digits.
	hashedForm = "%%(%x)"
	// hashedLength is the length of that in bytes.
	hashedLength = len("%()") + 2*sha256.Size
)

// nameOfKey gives the name of a key's node. Different keys have different names: a plain one gives the key back when it is
// read, and one that was cut has the hash of the whole key.
func nameOfKey(key string) string {
	switch key {
	case "":
		return nameOfEmpty
	case ".", "..", "zookeeper": // names that ZooKeeper refuses, the last one below its root
		return escape(key[:1]) + key[1:]
	}
	var name strings.Builder
	cut := 0 // where it is cut if it proves to be too long: not within an escape, nor within a character
	for at, size := 0, 0; at < len(key); at += size {
		var r rune
		r, size = utf8.DecodeRuneInString(key[at:])
		part := key[at : at+size]
		if atAnEnd := at == 0 || at+size == len(key); !readable(r) || r == ' ' && atAnEnd {
			part = escape(part)
		}
		name.WriteString(part)
		switch length := name.Len(); {
		case length > maxKeyName:
			return name.String()[:cut] + hashOf(key)
		case length <= maxKeyName-hashedLength:
			cut = length
		}
	}
	return unlikeContender(key, name.String(), cut)
}

// unlikeContender gives a name that nobody who reads the tree of locks takes for a contender's node: all of those end
// with a number, and an escape is none.
func unlikeContender(key, name string, cut int) string {
	if _, is := queue.Parse(name); !is {
		return name
	}
	last := len(name) - 1
	if name = name[:last] + escape(name[last:]); len(name) > maxKeyName {
		return name[:cut] + hashOf(key)
	}
	return name
}

func hashOf(key string) string { return fmt.Sprintf(hashedForm, sha256.Sum256([]byte(key))) }

// readable reports whether a character stands for itself in a name: people see it, ZooKeeper takes it, and it means nothing
// here. What is no UTF-8 comes as the replacement character, which ZooKeeper refuses.
func readable(r rune) bool {
	refused := r >= 0xd800 && r <= 0xf8ff || r >= 0xfff0 // as zkconn.CheckPath has it; controls are not printable
	return unicode.IsPrint(r) && !refused && r != '/' && r != '%'
}

// escape writes each byte as a percent sign and two hexadecimal digits, as URLs have them.
func escape(part string) string {
	var escaped strings.Builder
	for i := range len(part) {
		fmt.Fprintf(&escaped, "%%%02X", part[i])
	}
	return escaped.String()
}
