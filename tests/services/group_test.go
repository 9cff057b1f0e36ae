package services

import (
	"context"
	"slices"
	"sync"
	"testing"
	"testing/synctest"

	"github.com/stretchr/testify/require"

	"github.com/turnstile-locks/turnstile/locks"
	"github.com/turnstile-locks/turnstile/tests/patient"
)

// groupCell is membership, and a fault.
type groupCell struct {
	fault Fault
	must  string // come out
	ends  outcome
	// seen has what others see of the member from its joining until it has left: "it", "nobody", and "it anew" under
	// another ID. gone: they see that nobody is there before the fault is over; otherwise they may miss that.
	seen []string
	gone bool
	// after has the last reports of a member that is told to end.
	after []string
}

var groupCells = []groupCell{
	{expiry, "it joins again in the next session, under another ID", lost,
		[]string{"it", "it anew", "nobody"}, false, []string{"it is another member", "Leave returns: nil"}},
	{cut, "it stays the same member", kept,
		[]string{"it", "nobody"}, false, []string{"it is the same member", "Leave returns: nil"}},
	{silence, "it is gone when its session has expired, and joins again when it is heard again", lost,
		[]string{"it", "nobody", "it anew", "nobody"}, true, []string{"it is another member", "Leave returns: nil"}},
	{pause, "it is gone when its session has expired, and joins again when the process goes on", lost,
		[]string{"it", "nobody", "it anew", "nobody"}, true, []string{"it is another member", "Leave returns: nil"}},
	{kill, "it is gone when its session has expired", lost,
		[]string{"it", "nobody"}, true, nil},
	{lostReply, "it is there once, and gone when Leave returns", kept,
		[]string{"it", "nobody"}, false, []string{"it is the same member", "Leave returns: nil"}},
}

// TestGroupOnServers: the cells of membership in real time.
func TestGroupOnServers(t *testing.T) {
	for _, c := range groupCells {
		for _, k := range kindsOf(c.fault) {
			t.Run(string(c.fault)+"/"+k.name, func(t *testing.T) {
				t.Parallel()
				t.Log(c.must)
				inTime(t, func() bool { return c.play(t, realWorld(t, k)) })
			})
		}
	}
}

// TestGroupInVirtualTime: the cells that need no process.
func TestGroupInVirtualTime(t *testing.T) {
	for _, c := range groupCells {
		if c.fault == pause || c.fault == kill {
			continue
		}
		t.Run(string(c.fault), func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				t.Log(c.must)
				require.True(t, c.play(t, virtualWorld(t)))
			})
		})
	}
}

// onlooker watches the members of the group.
type onlooker struct {
	mu   sync.Mutex
	ids  []string // that were seen
	seen []string
	news chan struct{} // closed and replaced when it sees something
}

func look(t *testing.T, group *locks.Group) *onlooker {
	t.Helper()
	ctx, cancel := context.WithCancel(context.Background())
	told, err := group.Watch(ctx)
	require.NoError(t, err)
	select {
	case members := <-told:
		require.Empty(t, members)
	case <-patient.Deadline(t).Done():
		t.Fatal("it is never told who is in the group")
	}
	o, ended := &onlooker{news: make(chan struct{})}, make(chan struct{})
	go func() {
		defer close(ended)
		for members := range told {
			o.see(members)
		}
	}()
	t.Cleanup(func() {
		cancel()
		<-ended
	})
	return o
}

func (o *onlooker) see(members []locks.Member) {
	o.mu.Lock()
	defer o.mu.Unlock()
	what := "nobody"
	switch {
	case len(members) > 1:
		what = "several"
	case len(members) == 1:
		if !slices.Contains(o.ids, members[0].ID) {
			o.ids = append(o.ids, members[0].ID)
		}
		what = []string{"it", "it anew", "it a third time"}[min(slices.Index(o.ids, members[0].ID), 2)]
		if members[0].Data != "it" {
			what = "somebody with " + members[0].Data
		}
	}
	o.seen = append(o.seen, what)
	close(o.news)
	o.news = make(chan struct{})
}

// await waits until it sees something as the newest, and gives all that it has seen.
func (o *onlooker) await(t *testing.T, what string) []string {
	t.Helper()
	ctx := patient.Deadline(t)
	for {
		o.mu.Lock()
		seen, news := slices.Clone(o.seen), o.news
		o.mu.Unlock()
		if len(seen) > 0 && seen[len(seen)-1] == what {
			return seen
		}
		select {
		case <-news:
		case <-ctx.Done():
			t.Fatalf("%q, and never %q", seen, what)
		}
	}
}

// play plays a cell, as cell.play does.
func (c groupCell) play(t *testing.T, w world) bool {
	others, group := w.others(t), w.others(t).Group(w.path())
	require.NoError(t, locks.Do(patient.Deadline(t), others.RWMutex(w.path()).Reader(), // the next create is the member's
		func(context.Context, locks.Token) error { return nil }))
	o := look(t, group)
	created := func() {}
	if c.fault == lostReply {
		created = w.lose(t, creates)
	}
	as := cell{ability: Group, fault: c.fault, ends: c.ends}
	s, process := w.begin(t, as)
	s.await(t, "joined")
	created()
	o.await(t, "it")
	all, err := group.Members(patient.Deadline(t))
	require.NoError(t, err)
	if c.ends == lost && !w.exact() && (len(all) == 0 || all[0].ID != s.member) {
		return false // the machine is too slow
	}
	require.Len(t, all, 1)
	require.Equal(t, s.member, all[0].ID)
	s.setSession(all[0].Session)
	w.settle()
	deleted := as.strike(t, w, s, process)
	if c.gone {
		o.await(t, "nobody")
		as.overcome(t, w, process)
	}
	if slices.Contains(c.seen, "it anew") {
		o.await(t, "it anew")
	}
	if c.fault != kill {
		s.end()
		s.await(t, append(append([]string{"joined"}, c.after...), over)...)
	}
	deleted()
	seen := o.await(t, "nobody")
	if !c.gone { // a watcher may have missed that nobody was there in between
		last := len(seen) - 1
		seen = append(slices.DeleteFunc(seen[:last], func(what string) bool { return what == "nobody" }), "nobody")
	}
	require.Equal(t, c.seen, seen)
	none, err := group.Members(patient.Deadline(t))
	require.NoError(t, err)
	require.Empty(t, none)
	return true
}

func (s *subject) setSession(session int64) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.session = session
}
