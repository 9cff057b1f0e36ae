package interop

import (
	"testing"

	"github.com/turnstile-locks/turnstile/messages"
)

// Readers and writers of Turnstile, of Curator's InterProcessReadWriteLock, and of kazoo's with Curator's
// names.
func TestReadWriteOnOnePath(t *testing.T) {
	mix{path: "/mixed/readwrite", bar: "_c_bar-__WRIT__", members: []member{
		{name: "turnstile", client: turnstile, recipe: ReadWrite},
		{name: "curator", worker: curator, recipe: ReadWrite},
		{name: "kazoo", worker: kazooed, recipe: ReadWrite, names: CuratorNames},
	}}.run(t)
}

// Readers and writers of Turnstile with kazoo's names, and kazoo's ReadLock and WriteLock as they come.
func TestKazooReadWriteOnOnePath(t *testing.T) {
	mix{path: "/mixed/kazoo-readwrite", bar: "bar__lock__", members: []member{
		{name: "turnstile", client: turnstileNamed(messages.KazooNaming), recipe: ReadWrite},
		{name: "kazoo", worker: kazooed, recipe: ReadWrite},
	}}.run(t)
}
