package interop

import (
	"testing"
	"time"

	"github.com/turnstile-locks/turnstile/messages"
)

// Readers and writers of Turnstile and of Curator's InterProcessReadWriteLock, and writers of kazoo's
// with Curator's names. kazoo's readers stay away: see TestKazooReaderWaitsForAWriterBehindIt.
func TestReadWriteOnOnePath(t *testing.T) {
	mix{path: "/mixed/readwrite", bar: "_c_bar-__WRIT__", members: []member{
		{name: "turnstile", client: turnstile, recipe: ReadWrite},
		{name: "curator", worker: curator, recipe: ReadWrite},
		{name: "kazoo", worker: kazooed, recipe: Write, names: CuratorNames},
	}}.run(t)
}

// Readers and writers of Turnstile with kazoo's names, and kazoo's WriteLock.
func TestKazooWritersOnOnePath(t *testing.T) {
	mix{path: "/mixed/kazoo-writers", bar: "bar__lock__", members: []member{
		{name: "turnstile", client: turnstileNamed(messages.KazooNaming), recipe: ReadWrite},
		{name: "kazoo", worker: kazooed, recipe: Write},
	}}.run(t)
}

// Readers and writers of both Turnstile and kazoo. As kazoo's readers stand still with any writer
// behind them, they give up now and then, and it is fewer rounds.
func TestKazooReadersOnOnePath(t *testing.T) {
	eachServer(t, func(t *testing.T, s *server) {
		mix{path: "/mixed/kazoo-readers", bar: "bar__lock__", members: []member{
			{name: "turnstile", client: turnstileNamed(messages.KazooNaming), recipe: ReadWrite},
			{name: "kazoo", worker: kazooed, recipe: ReadWrite, patience: 100 * time.Millisecond},
		}}.contend(t, s, 12)
	})
}
