package queues

import (
	"context"
	"errors"
	"strings"
	"testing"

	"github.com/asynkron/protoactor-go/actor"
	"github.com/go-zookeeper/zk"
	"github.com/stretchr/testify/require"

	"github.com/turnstile-locks/turnstile/actors"
	"github.com/turnstile-locks/turnstile/locks"
	"github.com/turnstile-locks/turnstile/messages"
	"github.com/turnstile-locks/turnstile/tests/rig"
	"github.com/turnstile-locks/turnstile/tests/scene"
	"github.com/turnstile-locks/turnstile/zkconn"
)

// TestLocksFindsAllBelow a root, of each kind, and passes over what is no lock, or ZooKeeper's own. What it may not read it
// reports, and goes on with the rest.
func TestLocksFindsAllBelow(t *testing.T) {
	at := scene.OnEmbedded(t)
	one, two, o := at.Open(t), at.Open(t), scene.Look(t, at)
	o.Plant(t, "/app/config", "a note")
	for _, path := range []string{"/app/a", "/app/deep/er/b", "/other"} {
		scene.LockAt(t, one, path)
	}
	for range 2 {
		scene.Queue(t, two, "/app/deep/er/b")
	}
	for range 3 {
		scene.Reader.Holds(t, one, "/app/rw")
	}
	scene.Permits(3, 5).Holds(t, one, "/app/sem")
	scene.Exclusive.With(locks.WithName("second")).Holds(t, one, "/app/a")
	scene.Contest.Holds(t, one, "/app/prize")
	_, err := o.Create(at.Root()+"/app/service", []byte("10.0.0.1:80"), zk.FlagEphemeral, zk.WorldACL(zk.PermAll))
	require.NoError(t, err)
	all := []messages.LockCount{
		{Path: "/app/a", Holders: 1}, {Path: "/app/a", Name: "second", Holders: 1},
		{Path: "/app/deep/er/b", Holders: 1, Waiters: 2}, {Path: "/app/prize", Contest: true, Holders: 1},
		{Path: "/app/rw", Holders: 3}, {Path: "/app/sem", Holders: 1, Permits: 5, Taken: 3}, {Path: "/other", Holders: 1},
	}
	tree := func(client *locks.Client, root string) *messages.LockTree {
		tree, err := client.Locks(scene.Deadline(t), root)
		require.NoError(t, err)
		return tree
	}
	for root, want := range map[string][]messages.LockCount{
		"/": all, "/app": all[:6], "/app/deep/er/b": all[2:3], "/app/prize": all[3:4], "/nothing": nil,
	} {
		require.Equal(t, &messages.LockTree{Root: root, Locks: want}, tree(two, root))
	}
	veryRoot := tree(scene.Open(t, at.Hosts()), "/")
	require.Contains(t, veryRoot.Locks, messages.LockCount{Path: at.Root() + "/other", Holders: 1})
	for _, u := range veryRoot.Unread {
		require.False(t, strings.HasPrefix(u.Path, "/zookeeper"), u.Path)
	}

	shut := []string{"/barred", "/closed", "/shut"}
	for _, path := range shut {
		o.Plant(t, path+"/lock", "")
		_, err = o.SetACL(at.Root()+path, zk.DigestACL(zk.PermAll, "me", "secret"), -1)
		require.NoError(t, err)
	}
	some := tree(two, "/")
	require.Equal(t, all, some.Locks)
	require.Len(t, some.Unread, len(shut))
	for i, path := range shut {
		require.Equal(t, path, some.Unread[i].Path)
		require.Equal(t, messages.ReasonNoAuth, some.Unread[i].Reason)
	}
	_, err = two.Queue(scene.Deadline(t), "/shut")
	require.ErrorIs(t, err, zkconn.ErrNoAuth)
}

// questions are the calls that look at locks, or interfere with them.
var questions = map[string]func(context.Context, *locks.Client, string) error{
	"Queue": func(ctx context.Context, c *locks.Client, path string) error {
		_, err := c.Queue(ctx, path)
		return err
	},
	"Locks": func(ctx context.Context, c *locks.Client, path string) error {
		_, err := c.Locks(ctx, path)
		return err
	},
	"Revoke": func(ctx context.Context, c *locks.Client, path string) error {
		_, err := c.Revoke(ctx, path)
		return err
	},
	"Deadlocks": func(ctx context.Context, c *locks.Client, path string) error {
		_, err := c.Deadlocks(ctx, path)
		return err
	},
	"Break": func(ctx context.Context, c *locks.Client, path string) error {
		return c.Break(ctx, messages.Contender{Path: path, Node: "lock-0000000001", Token: 1 << 20})
	},
}

// TestQueriesAboutBadPaths: are refused before anything is sent.
func TestQueriesAboutBadPaths(t *testing.T) {
	at := scene.OnEmbedded(t)
	proxy := at.Proxy(t)
	client := scene.Open(t, proxy.Addr()+at.Root(), locks.WithSessionTimeout(scene.Longest)) // heartbeats come later
	before := proxy.Requests(rig.OpAny)
	for _, path := range []string{"", "orders", "//", "/a//b", "/a/", "/a\x00b", "/.", "/a/../b", "/zookeeper/locks"} {
		for name, question := range questions {
			require.ErrorIs(t, question(scene.Deadline(t), client, path), zkconn.ErrBadPath, "%s of %q", name, path)
		}
		answer, err := client.Session().Ask(scene.Deadline(t), messages.FindMissing{Path: path})
		require.NoError(t, err)
		require.Equal(t, messages.ReasonBadInput, answer.(*messages.MissingFound).Reason)
	}
	for _, name := range []string{"Queue", "Revoke"} {
		require.ErrorIs(t, questions[name](scene.Deadline(t), client, "/"), zkconn.ErrBadPath, name)
	}
	_, err := client.Session().Ask(scene.Deadline(t), "what?")
	require.ErrorIs(t, err, actors.ErrBadAcquire)
	require.Equal(t, before, proxy.Requests(rig.OpAny))
}

// TestQueriesInVain: after Close, and when ctx has ended.
func TestQueriesInVain(t *testing.T) {
	at := scene.OnEmbedded(t)
	client := at.Open(t)
	ended, cancel := context.WithCancel(context.Background())
	cancel()
	for name, question := range questions {
		require.ErrorIs(t, question(ended, client, "/some"), context.Canceled, name)
	}
	session := client.Session()
	require.NoError(t, client.Close(scene.Deadline(t)))
	for name, question := range questions {
		require.ErrorIs(t, question(scene.Deadline(t), client, "/some"), locks.ErrClosed, name)
	}
	s := scene.NewStage(t, at.Connect())
	require.NoError(t, s.Session.Close(scene.Deadline(t)))
	_, err := s.Session.Ask(scene.Deadline(t), &messages.ReadQueue{Path: "/some"})
	require.ErrorIs(t, err, actors.ErrSessionClosed)
	require.ErrorIs(t, session.Err(), actors.ErrSessionClosed)
}

// TestCloseAnswersWhoWaits: a question that waits for the connection ends with the client.
func TestCloseAnswersWhoWaits(t *testing.T) {
	at := scene.OnEmbedded(t)
	proxy := at.Proxy(t)
	s := scene.NewStage(t, proxy.Addr()+at.Root())
	proxy.Refuse(true)
	proxy.Cut()
	got := make(chan any, 1)
	asker := s.System.Root.Spawn(actor.PropsFromFunc(func(ctx actor.Context) {
		switch msg := ctx.Message().(type) {
		case *actor.Started:
			ctx.Request(s.Session.PID(), &messages.ReadQueue{Path: "/some"})
			go func() { // behind the question
				if err := s.Session.Close(context.Background()); !errors.Is(err, zkconn.ErrSessionRemains) {
					t.Error(err)
				}
			}()
		case *messages.Queue:
			got <- msg
		}
	}))
	defer s.System.Root.Stop(asker)
	select {
	case answer := <-got:
		require.Equal(t, messages.ReasonSessionClosed, answer.(*messages.Queue).Reason)
	case <-scene.Deadline(t).Done():
		t.Fatal("no answer")
	}
}

// TestActorsAsk: an actor program asks the session actor and is answered by a message.
func TestActorsAsk(t *testing.T) {
	at := scene.OnEmbedded(t)
	s := scene.NewStage(t, at.Connect())
	r := s.SpawnFor(t, messages.Acquire{Path: "/by/actor", Owner: "me", Caller: "her", Label: "x"})
	held := r.Hold(t)
	answers := make(chan any, 10)
	asker := s.System.Root.Spawn(actor.PropsFromFunc(func(ctx actor.Context) {
		switch msg := ctx.Message().(type) {
		case actor.SystemMessage, actor.AutoReceiveMessage:
		case *messages.Queue, *messages.LockTree, *messages.RevokeRequestSent, *messages.Broken, *messages.DeadlocksFound:
			answers <- msg
		default:
			ctx.Request(s.Session.PID(), msg)
		}
	}))
	defer s.System.Root.Stop(asker)
	ask := func(question any) any {
		s.System.Root.Send(asker, question)
		select {
		case a := <-answers:
			return a
		case <-scene.Deadline(t).Done():
			t.Fatalf("no answer to %T", question)
			return nil
		}
	}
	q := ask(messages.ReadQueue{Path: "/by/actor"}).(*messages.Queue)
	require.Equal(t, messages.ReasonNone, q.Reason)
	require.Len(t, q.Contenders, 1)
	require.Equal(t, held.Token, q.Contenders[0].Token)
	require.Equal(t, []string{"me", "her", "her", "x"},
		[]string{q.Contenders[0].Owner, q.Contenders[0].Caller, q.Contenders[0].Who, q.Contenders[0].Label})
	require.Len(t, ask(&messages.ReadLocks{Root: "/"}).(*messages.LockTree).Locks, 1)
	require.Empty(t, ask(&messages.FindDeadlocks{Root: "/"}).(*messages.DeadlocksFound).Deadlocks)
	require.Len(t, ask(&messages.SendRevokeRequest{Path: "/by/actor"}).(*messages.RevokeRequestSent).Asked, 1)
	scene.Notice[*messages.RevokeRequested](t, r)
	require.Equal(t, messages.ReasonNone, ask(&messages.Break{Contender: q.Contenders[0]}).(*messages.Broken).Reason)
	require.Equal(t, messages.ReasonNodeDeleted, scene.Notice[*messages.Lost](t, r).Reason)
	require.Equal(t, messages.ReasonGone, ask(&messages.Break{Contender: q.Contenders[0]}).(*messages.Broken).Reason)
}
