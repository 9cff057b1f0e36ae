package interop

import (
	"testing"
	"time"

	"github.com/go-zookeeper/zk"
	"github.com/stretchr/testify/require"
)

// mix is who contends for one lock path, four threads of each.
type mix struct {
	path       string
	here       map[string]goClient
	elsewhere  map[string]*sharedWorker
	kazooNames string
}

// On one path, all four clients: never two hold at a time, and they hold in the order of their nodes'
// numbers, whichever client made them. The witness judges both.
func TestFourClientsOnOnePath(t *testing.T) {
	eachServer(t, func(t *testing.T, s *server) {
		mix{
			path:       "/mixed/all",
			here:       map[string]goClient{"turnstile": turnstile, "go-zookeeper": zkLock},
			elsewhere:  map[string]*sharedWorker{"curator": curator, "kazoo": kazooed},
			kazooNames: CuratorNames,
		}.run(t, s)
	})
}

// Where Curator is not, kazoo may keep its own names, if it is told of the others'.
func TestPlainKazooOnOnePathWithoutCurator(t *testing.T) {
	eachServer(t, func(t *testing.T, s *server) {
		mix{
			path:       "/mixed/kazoo",
			here:       map[string]goClient{"turnstile": turnstile, "go-zookeeper": zkLock},
			elsewhere:  map[string]*sharedWorker{"kazoo": kazooed},
			kazooNames: ExtraPatterns,
		}.run(t, s)
	})
}

func (m mix) run(t *testing.T, s *server) {
	t.Helper()
	witness := StartWitness(t)
	s.make(t, m.path)
	open := s.bar(t, m.path)
	job := Job{
		Recipe: Mutex, Connect: s.addr, Path: m.path, Witness: witness.Addr(), Names: m.kazooNames,
		Sessions: 2, Threads: 2, Rounds: 200, Limit: 3 * time.Minute,
	}
	if !s.real { // it is as good as the real one where it matters, which that one is there to show
		job.Rounds = 25
	}
	all := m.start(t, witness, job)
	threads := len(all) * job.Sessions * job.Threads
	s.awaitCount(t, m.path, 1+threads)
	began := time.Now()
	open()
	for _, p := range all {
		p.wait(t)
	}
	requireMixed(t, witness.Entries(), threads, job.Rounds)
	s.requireEmpty(t, m.path)
	t.Logf("%d grants in %v", threads*job.Rounds, time.Since(began).Round(time.Millisecond))
}

func (m mix) start(t *testing.T, witness *WitnessServer, job Job) (all []pending) {
	t.Helper()
	for name, worker := range m.elsewhere {
		job.Name = name
		all = append(all, start(t, worker.Get(t), job))
	}
	for name, client := range m.here {
		job.Name = name
		all = append(all, startHere(t, client, witness.Witness, job))
	}
	return all
}

// bar keeps everybody out of a lock with a node that is the first in its queue, until open is called.
// So whoever is quick does not hold its share of times before the others are there.
func (s *server) bar(t *testing.T, path string) (open func()) {
	t.Helper()
	flags := int32(zk.FlagEphemeral | zk.FlagSequence)
	node, err := s.conn.Create(path+"/_c_bar-lock-", nil, flags, zk.WorldACL(zk.PermAll))
	require.NoError(t, err)
	return func() { require.NoError(t, s.conn.Delete(node, -1)) }
}

// requireMixed finds every grant's node among the entries, in order, and that the threads took turns.
func requireMixed(t *testing.T, entries []Entry, threads, rounds int) {
	t.Helper()
	require.Len(t, entries, threads*rounds)
	first := map[string]bool{}
	for at, entry := range entries {
		number, ok := Sequence(entry.Node)
		require.True(t, ok, entry)
		// Every node but the bar is one that held: nobody gave up, and nobody made two.
		require.EqualValues(t, at+1, number, "%v", entry)
		if at < threads {
			first[entry.Holder] = true
		}
	}
	require.Len(t, first, threads, "who was in the queue when it was opened")
}
