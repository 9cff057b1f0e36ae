package queue_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/turnstile-locks/turnstile/actors/queue"
	"github.com/turnstile-locks/turnstile/messages"
)

// in is a request of a process, by an actor of its own.
func in(pid int, actor, path string, mode messages.Mode) inProcess {
	return inProcess{asked{who: actor, path: path, mode: mode, weight: 1}, pid}
}

type inProcess struct {
	asked
	pid int
}

// lookAt is look, with processes.
func lookAt(permits int, requests ...inProcess) []queue.LockPath {
	var plain []asked
	for _, r := range requests {
		plain = append(plain, r.asked)
	}
	locks := look(plain, permits)
	for i := range locks {
		for at := range locks[i].Contenders {
			c := &locks[i].Contenders[at]
			c.Host, c.PID = "h", requests[int(c.Token)-1].pid
		}
	}
	return locks
}

// possible gives possible deadlocks in words.
func possible(locks []queue.LockPath) (words []string) {
	for _, d := range queue.PossibleDeadlocks(locks) {
		words = append(words, d.String())
	}
	return words
}

const (
	read  = messages.Read
	write = messages.Write
	mutex = messages.Exclusive
)

func TestPossibleDeadlocks(t *testing.T) {
	const self = "process 1 on h holds /x and waits for /x"
	for name, c := range map[string]struct {
		requests []inProcess
		want     []string
	}{
		"retaken":      {[]inProcess{in(1, "a", "/x", mutex), in(1, "b", "/x", mutex)}, []string{self}},
		"retaken much": {[]inProcess{in(1, "a", "/x", mutex), in(1, "b", "/x", mutex), in(1, "c", "/x", mutex)}, []string{self}},
		"retaken behind another": {[]inProcess{in(1, "a", "/x", mutex), in(2, "b", "/x", mutex), in(1, "c", "/x", mutex)},
			[]string{self}},
		"crossed": {[]inProcess{in(1, "a", "/x", mutex), in(2, "b", "/y", mutex), in(1, "c", "/y", mutex),
			in(2, "d", "/x", mutex)}, []string{"process 1 on h holds /x and waits for /y; process 2 on h holds /y and waits for /x"}},
		"of three": {[]inProcess{in(1, "a", "/x", write), in(2, "b", "/y", write), in(3, "c", "/z", write), in(1, "d", "/y", read),
			in(2, "e", "/z", read), in(3, "f", "/x", read)}, []string{"process 1 on h holds /x and waits for /y; " +
			"process 2 on h holds /y and waits for /z; process 3 on h holds /z and waits for /x"}},
		"reads again behind a writer": {[]inProcess{in(1, "a", "/x", read), in(2, "b", "/x", write), in(1, "c", "/x", read)},
			[]string{"process 2 on h waits for /x and keeps others waiting; " + self}},
		"upgrade": {[]inProcess{in(1, "a", "/x", read), in(1, "b", "/x", write)}, []string{self}},

		"others wait":               {[]inProcess{in(1, "a", "/x", mutex), in(2, "b", "/x", mutex)}, nil},
		"readers share":             {[]inProcess{in(1, "a", "/x", read), in(1, "b", "/x", read)}, nil},
		"readers share, one writes": {[]inProcess{in(1, "a", "/x", read), in(1, "b", "/x", read), in(2, "c", "/x", write)}, nil},
		"a chain":                   {[]inProcess{in(1, "a", "/x", mutex), in(2, "b", "/y", mutex), in(1, "c", "/y", mutex)}, nil},
		"both wait for a third": {[]inProcess{in(3, "a", "/x", mutex), in(1, "b", "/x", mutex), in(1, "c", "/x", mutex)},
			nil},
		"both wait for two": {[]inProcess{in(3, "a", "/x", mutex), in(4, "b", "/y", mutex), in(1, "c", "/x", mutex), in(1, "d", "/y", mutex),
			in(2, "e", "/y", mutex), in(2, "f", "/x", mutex)}, nil},
		"a pool": {[]inProcess{in(1, "a", "/x", messages.Semaphore), in(1, "b", "/x", messages.Semaphore), in(1, "c", "/x", messages.Semaphore)},
			nil},
		"known to be one": {[]inProcess{in(1, "a", "/x", mutex), in(2, "b", "/y", mutex), in(1, "a", "/y", mutex),
			in(2, "b", "/x", mutex)}, nil},
	} {
		t.Run(name, func(t *testing.T) { require.Equal(t, c.want, possible(lookAt(2, c.requests...))) })
	}
}

// TestPossibleDeadlocksByWhatIsKnown: of other libraries' nodes the session stands for the process; who was asked for
// the lock is believed to give it back; a node that was passed on is nobody's hold for long.
func TestPossibleDeadlocksByWhatIsKnown(t *testing.T) {
	retaken := func(change func(holder, waiter *messages.Contender)) []queue.LockPath {
		locks := lookAt(0, in(1, "a", "/x", mutex), in(1, "b", "/x", mutex))
		change(&locks[0].Contenders[0], &locks[0].Contenders[1])
		return locks
	}
	require.NotEmpty(t, possible(retaken(func(_, _ *messages.Contender) {})))
	require.Equal(t, []string{"session 0x7 holds /x and waits for /x"}, possible(retaken(func(holder, waiter *messages.Contender) {
		for _, c := range []*messages.Contender{holder, waiter} {
			c.Host, c.Who, c.Session = "", "", 7
		}
	})))
	require.Empty(t, possible(retaken(func(holder, waiter *messages.Contender) {
		holder.Host, holder.Who, holder.Session = "", "", 7
		waiter.Host, waiter.Who, waiter.Session = "", "", 8
	})))
	require.Empty(t, possible(retaken(func(holder, waiter *messages.Contender) {
		for _, c := range []*messages.Contender{holder, waiter} { // neither may be read
			c.Host, c.Who, c.Session, c.Unread = "", "", 0, true
		}
	})))
	require.Empty(t, possible(retaken(func(holder, _ *messages.Contender) { holder.Asked = true })))
	require.Empty(t, possible(retaken(func(holder, _ *messages.Contender) { holder.Who = "" })))
	require.Empty(t, possible(retaken(func(_, waiter *messages.Contender) { waiter.Host = "another" })))
	behind := lookAt(0, in(1, "a", "/x", mutex))
	behind[0].Waiting = map[string][]messages.Contender{behind[0].Contenders[0].Node: {{Path: "/x", Host: "h", PID: 1, ID: "w", Who: "c"}}}
	require.Empty(t, possible(behind))
}
