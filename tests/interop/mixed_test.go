package interop

import (
	"path"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/turnstile-locks/turnstile/messages"
	"github.com/turnstile-locks/turnstile/tests/scene"
)

// mix has the clients that contend for one lock path, four threads of each member on two sessions.
type mix struct {
	name      string
	recipe    Recipe
	writers   messages.Mode // of those that hold alone
	bar       string        // what the name of a node begins with that keeps everybody out
	strangers []string      // other children of the lock path: a note of somebody's, and the folder of Curator's semaphore
	members   []member
}

// TestTogether: never two hold at a time, but for readers, and they hold in the order of their nodes' numbers, whichever
// client made them. The witness judges both. Turnstile tells whose each node is.
func TestTogether(t *testing.T) {
	for _, m := range []mix{
		{"four clients", Mutex, messages.Exclusive, "_c_bar-lock-", nil, []member{ours, goLock, java, renamed}},
		{"strangers", Mutex, messages.Exclusive, "_c_bar-lock-", []string{"config", "leases"}, []member{ours, java, renamed}},
		// Without Curator, kazoo may keep its own names, if it is given the patterns of the others'.
		{"kazoo with patterns", Mutex, messages.Exclusive, "_c_bar-lock-", nil, []member{ours, goLock, patterned}},
		{"kazoo's names", Mutex, messages.Exclusive, "bar__lock__", nil, []member{oursAsKazoo, python}},
		{"readers and writers", ReadWrite, messages.Write, "_c_bar-__WRIT__", nil, []member{ours, java, renamed}},
		{"readers and writers of kazoo's names", ReadWrite, messages.Exclusive, "bar__lock__", nil, []member{oursAsKazoo, python}},
	} {
		t.Run(m.name, func(t *testing.T) { eachServer(t, m.contend) })
	}
}

func (m mix) contend(t *testing.T, s *server) {
	const lockPath, sessions, threads = "/mixed", 2, 2
	rounds := 200
	if !s.real { // it is as good as the real server where it matters, which the real server is there to show
		rounds = 25
	}
	witness := StartWitness(t)
	s.make(t, lockPath)
	for _, name := range m.strangers {
		s.make(t, lockPath+"/"+name)
	}
	// A quick client does not take all its holds before the others are there.
	open := s.sequential(t, lockPath, m.bar)
	all := make([]<-chan error, len(m.members))
	libraries := map[string]messages.Library{}
	for i, one := range m.members {
		libraries[one.name] = one.library
		job := one.job(s, witness, m.recipe, lockPath)
		job.Sessions, job.Threads, job.Rounds, job.Limit = sessions, threads, rounds, 3*time.Minute
		all[i] = one.start(t, witness, job)
	}
	total := len(m.members) * sessions * threads
	s.awaitCount(t, lockPath, 1+total+len(m.strangers))
	queue := scene.QueueOf(t, scene.Open(t, s.Connect()), lockPath)
	open()
	for _, done := range all {
		require.NoError(t, <-done)
	}
	entries := witness.Entries()
	require.Len(t, entries, total*rounds)
	m.requireAllHeld(t, entries, total)

	holders := map[string]Entry{}
	for _, entry := range entries {
		holders[path.Base(entry.Node)] = entry
	}
	for at, c := range queue {
		require.Equal(t, at == 0, c.Holds, "only the bar holds: %+v", c)
		if at == 0 {
			continue
		}
		name, _, _ := strings.Cut(holders[c.Node].Holder, "/")
		require.Equal(t, libraries[name], c.Library, "%s: %+v", name, c)
		require.True(t, c.Library == messages.LibraryTurnstile || c.Who == "", "others do not say who is blocked: %+v", c)
		mode := m.writers
		if holders[c.Node].Claim == shared {
			mode = messages.Read
		}
		require.Equal(t, mode, c.Mode, "%s: %+v", name, c)
	}
	require.Len(t, s.below(t, lockPath), len(m.strangers))
}

// requireAllHeld finds that every node but the bar is one that held: nobody gave up, nobody made two
// for one grant; and that every thread was in the queue when it was opened.
func (m mix) requireAllHeld(t *testing.T, entries []Entry, threads int) {
	t.Helper()
	numbers, first := map[int64]Entry{}, map[string]bool{}
	for _, entry := range entries {
		number, ok := Sequence(entry.Node)
		number -= int64(len(m.strangers)) // servers count every child
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
