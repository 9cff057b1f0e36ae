package interop

import (
	"path"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/turnstile-locks/turnstile/messages"
)

// A client that looks at a queue is told the library of each node. A kazoo with names of somebody
// else's looks like the recipe of ZooKeeper's documentation.
func TestTheQueueTellsClientsApart(t *testing.T) {
	eachServer(t, func(t *testing.T, s *server) {
		for _, one := range []struct {
			path, bar string
			members   []member
			libraries map[string]messages.Library // by the members' names
		}{
			{"/looking/mutex", "_c_bar-lock-", []member{
				{name: "turnstile", client: turnstile, recipe: Mutex},
				{name: "zklock", client: zkLock, recipe: Mutex},
				{name: "java", worker: curator, recipe: Mutex},
				{name: "renamed", worker: kazooed, recipe: Mutex, names: CuratorNames},
			}, map[string]messages.Library{
				"turnstile": messages.LibraryTurnstile, "zklock": messages.LibraryGoZookeeper,
				"java": messages.LibraryCurator, "renamed": messages.LibraryRecipe,
			}},
			{"/looking/readwrite", "_c_bar-__WRIT__", []member{
				{name: "turnstile", client: turnstile, recipe: Read},
				{name: "java", worker: curator, recipe: Write},
			}, map[string]messages.Library{
				"turnstile": messages.LibraryTurnstile, "java": messages.LibraryCurator,
			}},
			{"/looking/kazoo", "bar__lock__", []member{
				{name: "turnstile", client: turnstileNamed(messages.KazooNaming), recipe: Write},
				{name: "python", worker: kazooed, recipe: Write},
			}, map[string]messages.Library{
				"turnstile": messages.LibraryTurnstile, "python": messages.LibraryKazoo,
			}},
		} {
			t.Run(path.Base(one.path), func(t *testing.T) {
				requireToldApart(t, s, mix{path: one.path, bar: one.bar, members: one.members}, one.libraries)
			})
		}
	})
}

func requireToldApart(t *testing.T, s *server, m mix, libraries map[string]messages.Library) {
	t.Helper()
	witness := StartWitness(t)
	s.make(t, m.path)
	open := s.bar(t, m.path, m.bar)
	var all []pending
	for _, one := range m.members {
		all = append(all, one.start(t, witness, Job{Connect: s.addr, Path: m.path, Witness: witness.Addr()}))
	}
	s.awaitCount(t, m.path, 1+len(m.members))
	seen := s.libraries(t, m.path)
	open()
	for _, p := range all {
		p.wait(t)
	}
	require.Len(t, witness.Entries(), len(m.members))
	for _, entry := range witness.Entries() {
		name, _, _ := strings.Cut(entry.Holder, "/")
		require.Equal(t, libraries[name], seen[path.Base(entry.Node)], "%s: %v", name, seen)
	}
}

// libraries reads a queue by Turnstile: whose nodes they are, by their names.
func (s *server) libraries(t *testing.T, lockPath string) map[string]messages.Library {
	t.Helper()
	queue, err := openTurnstile(t, s.addr).Queue(deadline(t), lockPath)
	require.NoError(t, err)
	seen := map[string]messages.Library{}
	for at, c := range queue {
		require.Equal(t, at == 0, c.Holds, "only the bar holds: %+v", c)
		seen[c.Node] = c.Library
	}
	return seen
}
