package queue_test

import (
	"fmt"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/turnstile-locks/turnstile/actors/queue"
	"github.com/turnstile-locks/turnstile/messages"
)

// request is one request of a model of several locks.
type asked struct {
	who, path string
	mode      messages.Mode
	weight    int
}

// look gives the queues of requests that came in this order, as somebody sees them who reads the locks.
func look(requests []asked, permits int) (locks []queue.LockPath) {
	children, by := map[string][]string{}, map[string]int{}
	var paths []string
	for i, r := range requests {
		style := queue.Style{Mode: r.mode, Weight: r.weight}
		node := style.Prefix(fmt.Sprintf("%036d", i)) + fmt.Sprintf("%010d", i)
		if children[r.path] == nil {
			paths = append(paths, r.path)
		}
		children[r.path] = append(children[r.path], node)
		by[node] = i
	}
	for _, path := range paths {
		q := queue.LockPath{Permits: permits}
		for _, s := range queue.Standings(children[path], permits) {
			r := requests[by[s.Child]]
			q.Contenders = append(q.Contenders, messages.Contender{Path: path, Node: s.Child, Mode: r.mode,
				Sequence: s.Sequence, Weight: r.weight, Token: messages.Token(by[s.Child] + 1), Holds: s.Holds,
				Who: r.who, Detects: true})
		}
		locks = append(locks, q)
	}
	return locks
}

func waits(requests []asked, permits int) (who map[string]bool, holding []int) {
	who = map[string]bool{}
	for _, q := range look(requests, permits) {
		for _, c := range q.Contenders {
			if c.Holds {
				holding = append(holding, int(c.Token)-1)
			} else {
				who[c.Who] = true
			}
		}
	}
	return who, holding
}

// goOn lets every owner that is not blocked give back what it holds, until none can. The
// requests that are left wait for ever.
func goOn(requests []asked, permits int) []asked {
	for {
		who, holding := waits(requests, permits)
		slices.Sort(holding)
		at := slices.IndexFunc(holding, func(i int) bool { return requests[i].who == "" || !who[requests[i].who] })
		if at < 0 {
			return requests
		}
		requests = slices.Delete(slices.Clone(requests), holding[at], holding[at]+1)
	}
}

func drawRequests(t *rapid.T) (requests []asked, permits int) {
	permits = rapid.IntRange(2, 4).Draw(t, "permits")
	modes := map[string][]messages.Mode{
		"/x": {messages.Exclusive}, "/y": {messages.Exclusive}, "/rw": {messages.Read, messages.Write},
		"/s": {messages.Semaphore},
	}
	for range rapid.IntRange(0, 10).Draw(t, "requests") {
		r := asked{who: rapid.SampledFrom([]string{"A", "B", "C", "D", ""}).Draw(t, "who"),
			path: rapid.SampledFrom([]string{"/x", "/y", "/rw", "/s"}).Draw(t, "path")}
		r.mode = rapid.SampledFrom(modes[r.path]).Draw(t, "mode")
		if r.mode == messages.Semaphore {
			r.weight = rapid.IntRange(1, permits).Draw(t, "weight")
		}
		requests = append(requests, r)
	}
	return requests, permits
}

// TestDeadlocksAreWhereNobodyGetsOn: there is a circle exactly where requests wait for ever, and
// only such requests are in it.
func TestDeadlocksAreWhereNobodyGetsOn(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		requests, permits := drawRequests(t)
		found := queue.Deadlocks(look(requests, permits))
		left := goOn(requests, permits)
		forever, _ := waits(left, permits)
		require.Equal(t, len(forever) > 0, len(found) > 0, "left: %v, found: %v", left, found)
		for _, d := range found {
			for i, m := range d.Members {
				require.Contains(t, left, requests[m.Waits.Token-1], "%v", d)
				next := d.Members[(i+1)%len(d.Members)]
				require.Equal(t, m.Waits.Path, next.Keeps.Path, "%v", d)
				require.Less(t, next.Keeps.Sequence, m.Waits.Sequence, "%v", d)
				require.Equal(t, next.Keeps.Who, next.Waits.Who, "%v", d)
			}
		}
	})
}

// TestYoungestGivesUpUntilAllGetOn: when the youngest of each circle gives up, again and again, nobody is left.
func TestYoungestGivesUpUntilAllGetOn(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		requests, permits := drawRequests(t)
		for {
			found := queue.Deadlocks(look(requests, permits))
			if len(found) == 0 {
				break
			}
			youngest, some := found[0].Youngest()
			require.True(t, some)
			requests = slices.Delete(slices.Clone(requests), int(youngest.Token)-1, int(youngest.Token))
		}
		require.Empty(t, goOn(requests, permits))
	})
}

func exclusive(who, path string) asked { return asked{who: who, path: path} }

func permit(who, path string, weight int) asked {
	return asked{who: who, path: path, mode: messages.Semaphore, weight: weight}
}

func TestDeadlocksInWords(t *testing.T) {
	for _, c := range []struct {
		name     string
		requests []asked
		want     []string
	}{
		{"two", []asked{exclusive("A", "/x"), exclusive("B", "/y"), exclusive("A", "/y"), exclusive("B", "/x")},
			[]string{"A holds /x and waits for /y; B holds /y and waits for /x"}},
		{"who is queued between is no part of it", []asked{exclusive("A", "/x"), exclusive("B", "/y"),
			exclusive("C", "/x"), exclusive("A", "/y"), exclusive("D", "/y"), exclusive("B", "/x"), exclusive("E", "/x")},
			[]string{"A holds /x and waits for /y; B holds /y and waits for /x"}},
		{"three", []asked{exclusive("A", "/x"), exclusive("B", "/y"), exclusive("C", "/z"), exclusive("A", "/y"),
			exclusive("B", "/z"), exclusive("C", "/x")},
			[]string{"A holds /x and waits for /y; B holds /y and waits for /z; C holds /z and waits for /x"}},
		{"itself", []asked{exclusive("A", "/x"), exclusive("A", "/x")}, []string{"A holds /x and waits for /x"}},
		{"a queue", []asked{exclusive("A", "/x"), exclusive("B", "/x"), exclusive("A", "/y"), exclusive("B", "/z")}, nil},
		{"nobody knows whose", []asked{exclusive("", "/x"), exclusive("B", "/y"), exclusive("", "/y"),
			exclusive("B", "/x")}, nil},
		{"a writer between readers", []asked{{who: "A", path: "/rw", mode: messages.Read},
			{who: "W", path: "/rw", mode: messages.Write}, exclusive("B", "/y"),
			{who: "B", path: "/rw", mode: messages.Read}, exclusive("A", "/y")},
			[]string{"W waits for /rw and keeps others waiting; A holds /rw and waits for /y; B holds /y and waits for /rw"}},
		{"a writer behind a writer is no part of it", []asked{{who: "A", path: "/rw", mode: messages.Read},
			{who: "W", path: "/rw", mode: messages.Write}, {who: "V", path: "/rw", mode: messages.Write},
			{who: "A", path: "/rw", mode: messages.Read}},
			[]string{"W waits for /rw and keeps others waiting; A holds /rw and waits for /rw"}},
		{"one of two permits is never given back", []asked{permit("A", "/s", 1), permit("C", "/s", 1),
			exclusive("B", "/y"), permit("B", "/s", 1), exclusive("A", "/y")}, nil},
		{"and the other neither", []asked{permit("A", "/s", 1), permit("C", "/s", 1), exclusive("B", "/y"),
			permit("B", "/s", 1), exclusive("A", "/y"), exclusive("C", "/y")},
			[]string{"B holds /y and waits for /s; A holds /s and waits for /y", "B holds /y and waits for /s; C holds /s and waits for /y"}},
		{"both are wanted", []asked{permit("A", "/s", 1), permit("C", "/s", 1), exclusive("B", "/y"),
			permit("B", "/s", 2), exclusive("A", "/y")},
			[]string{"B holds /y and waits for /s; A holds /s and waits for /y"}},
	} {
		t.Run(c.name, func(t *testing.T) {
			var got []string
			for _, d := range queue.Deadlocks(look(c.requests, 2)) {
				got = append(got, d.String())
			}
			require.Equal(t, c.want, got)
		})
	}
}
