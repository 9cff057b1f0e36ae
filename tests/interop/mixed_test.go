package interop

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/turnstile-locks/turnstile/messages"
)

// mix has the clients that contend for one lock path, four threads of each member on two sessions.
type mix struct {
	path    string
	bar     string // what the name of the bar's node begins with: see server.bar
	members []member
}

// member is a client of a mix: elsewhere, or in this process.
type member struct {
	name   string
	worker *sharedWorker
	client goClient
	recipe Recipe
	names  string
}

// On one path, all four clients: never two hold at a time, and they hold in the order of their nodes'
// numbers, whichever client made them. The witness judges both.
func TestFourClientsOnOnePath(t *testing.T) {
	mix{path: "/mixed/all", bar: "_c_bar-lock-", members: []member{
		{name: "turnstile", client: turnstile, recipe: Mutex},
		{name: "go-zookeeper", client: zkLock, recipe: Mutex},
		{name: "curator", worker: curator, recipe: Mutex},
		{name: "kazoo", worker: kazooed, recipe: Mutex, names: CuratorNames},
	}}.run(t)
}

// Without Curator, kazoo may keep its own names, if it is given the patterns of the others'.
func TestPlainKazooOnOnePathWithoutCurator(t *testing.T) {
	mix{path: "/mixed/kazoo", bar: "_c_bar-lock-", members: []member{
		{name: "turnstile", client: turnstile, recipe: Mutex},
		{name: "go-zookeeper", client: zkLock, recipe: Mutex},
		{name: "kazoo", worker: kazooed, recipe: Mutex, names: ExtraPatterns},
	}}.run(t)
}

// Turnstile's mutex with kazoo's names, and kazoo's Lock as it comes.
func TestKazooNamesOnOnePath(t *testing.T) {
	mix{path: "/mixed/kazoo-names", bar: "bar__lock__", members: []member{
		{name: "turnstile", client: turnstileNamed(messages.KazooNaming), recipe: Mutex},
		{name: "kazoo", worker: kazooed, recipe: Mutex},
	}}.run(t)
}

func (m mix) run(t *testing.T) {
	t.Helper()
	eachServer(t, func(t *testing.T, s *server) {
		rounds := 200
		if !s.real { // it is as good as the real server where it matters, which the real server is there to show
			rounds = 25
		}
		m.contend(t, s, rounds)
	})
}

func (m mix) contend(t *testing.T, s *server, rounds int) {
	t.Helper()
	witness := StartWitness(t)
	s.make(t, m.path)
	open := s.bar(t, m.path, m.bar)
	var all []pending
	threads := 0
	job := Job{
		Connect: s.addr, Path: m.path, Witness: witness.Addr(), Sessions: 2, Threads: 2, Rounds: rounds,
		Limit: 3 * time.Minute,
	}
	for _, one := range m.members {
		threads += job.Sessions * job.Threads
		all = append(all, one.start(t, witness, job))
	}
	s.awaitCount(t, m.path, 1+threads)
	began := time.Now()
	open()
	for _, p := range all {
		p.wait(t)
	}
	t.Logf("%d grants in %v", threads*rounds, time.Since(began).Round(time.Millisecond))
	entries := witness.Entries()
	require.Len(t, entries, threads*rounds)
	requireAllHeld(t, entries, threads)
	s.requireEmpty(t, m.path)
}

// start has a member do a job that says all but what is the member's own.
func (m member) start(t *testing.T, witness *WitnessServer, job Job) pending {
	t.Helper()
	job.Name, job.Recipe, job.Names = m.name, m.recipe, m.names
	if m.client != nil {
		return startHere(t, m.client, witness.Witness, job)
	}
	return start(t, m.worker.Get(t), job)
}

// bar keeps everybody out of a lock with a node that is the first in its queue, until open is
// called. So a quick client does not take all its holds before the others are there.
func (s *server) bar(t *testing.T, path, name string) (open func()) {
	t.Helper()
	node := s.sequential(t, path, name)
	return func() { require.NoError(t, s.conn.Delete(node, -1)) }
}

// requireAllHeld finds that every node but the bar is one that held: nobody gave up, nobody made two
// for one grant; and that every thread was in the queue when it was opened.
func requireAllHeld(t *testing.T, entries []Entry, threads int) {
	t.Helper()
	numbers, first := map[int64]Entry{}, map[string]bool{}
	for _, entry := range entries {
		number, ok := Sequence(entry.Node)
		require.True(t, ok, entry)
		require.LessOrEqual(t, number, int64(len(entries)), entry)
		require.NotContains(t, numbers, number, entry)
		numbers[number] = entry
		if number <= int64(threads) {
			first[entry.Holder] = true
		}
	}
	require.Len(t, first, threads, "who was in the queue when it was opened")
}
