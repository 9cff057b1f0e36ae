package queues

import (
	"context"
	"errors"
	"strings"
	"testing"

	"github.com/asynkron/protoactor-go/actor"
	"github.com/stretchr/testify/require"

	"github.com/turnstile-locks/turnstile/actors"
	"github.com/turnstile-locks/turnstile/locks"
	"github.com/turnstile-locks/turnstile/messages"
	"github.com/turnstile-locks/turnstile/tests/patient"
	"github.com/turnstile-locks/turnstile/tests/rig"
	"github.com/turnstile-locks/turnstile/tests/stage"
	"github.com/turnstile-locks/turnstile/tests/stories"
	"github.com/turnstile-locks/turnstile/zkconn"
)

// TestLocksFromTheVeryRoot: without a chroot, and what is ZooKeeper's own is left alone.
func TestLocksFromTheVeryRoot(t *testing.T) {
	stories.EachServer(t, func(t *testing.T, at *stories.Servers) {
		client := patient.Open(t, at.Hosts())
		patient.Locked(t, client.Mutex(at.Root()+"/mine").Lock)
		tree, err := client.Locks(patient.Deadline(t), "/")
		require.NoError(t, err)
		require.Contains(t, tree.Locks, messages.LockCount{Path: at.Root() + "/mine", Holders: 1})
		for _, u := range tree.Unread {
			require.False(t, strings.HasPrefix(u.Path, "/zookeeper"), u.Path)
		}
	})
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

// TestQueriesAboutBadPaths: are refused before anything is sent, also when actors ask.
func TestQueriesAboutBadPaths(t *testing.T) {
	stories.EachServer(t, func(t *testing.T, at *stories.Servers) {
		proxy := at.Proxy(t)
		client := patient.Open(t, proxy.Addr()+at.Root())
		requests := func() int {
			return proxy.Requests(rig.OpSync) + proxy.Requests(rig.OpGetData) + proxy.Requests(rig.OpExists) +
				proxy.Requests(rig.OpGetChildren2) + proxy.Requests(rig.OpSetData) + proxy.Requests(rig.OpDelete)
		}
		before := requests()
		for _, path := range []string{"", "orders", "//", "/a//b", "/a/", "/a\x00b", "/.", "/a/../b", "/zookeeper/locks"} {
			for name, question := range questions {
				require.ErrorIs(t, question(patient.Deadline(t), client, path), zkconn.ErrBadPath, "%s of %q", name, path)
			}
			for _, question := range []any{&messages.ReadQueue{Path: path}, messages.ReadLocks{Root: path},
				messages.FindMissing{Path: path}, &messages.SendRevokeRequest{Path: path},
				messages.Break{Contender: messages.Contender{Path: path, Node: "lock-0000000001"}},
				&messages.FindDeadlocks{Root: path}} {
				answer, err := client.Session().Ask(patient.Deadline(t), question)
				require.NoError(t, err)
				require.Equal(t, messages.ReasonBadInput, reasonOf(t, answer), "%T of %q", question, path)
			}
		}
		for _, name := range []string{"Queue", "Revoke"} {
			require.ErrorIs(t, questions[name](patient.Deadline(t), client, "/"), zkconn.ErrBadPath, name)
		}
		require.Equal(t, before, requests())
		_, err := client.Session().Ask(patient.Deadline(t), "what?")
		require.ErrorIs(t, err, actors.ErrBadAcquire)
	})
}

func reasonOf(t *testing.T, answer any) messages.Reason {
	t.Helper()
	switch a := answer.(type) {
	case *messages.Queue:
		return a.Reason
	case *messages.MissingFound:
		return a.Reason
	case *messages.LockTree:
		return a.Reason
	case *messages.RevokeRequestSent:
		return a.Reason
	case *messages.Broken:
		return a.Reason
	case *messages.DeadlocksFound:
		return a.Reason
	}
	t.Fatalf("%T is no answer", answer)
	return ""
}

// TestQueriesInVain: after Close, and when ctx has ended.
func TestQueriesInVain(t *testing.T) {
	stories.EachServer(t, func(t *testing.T, at *stories.Servers) {
		client := at.Open(t)
		ended, cancel := context.WithCancel(context.Background())
		cancel()
		for name, question := range questions {
			require.ErrorIs(t, question(ended, client, "/some"), context.Canceled, name)
		}
		session := client.Session()
		require.NoError(t, client.Close(patient.Deadline(t)))
		for name, question := range questions {
			require.ErrorIs(t, question(patient.Deadline(t), client, "/some"), locks.ErrClosed, name)
		}
		s := stage.New(t, at.Connect())
		require.NoError(t, s.Session.Close(patient.Deadline(t)))
		_, err := s.Session.Ask(patient.Deadline(t), &messages.ReadQueue{Path: "/some"})
		require.ErrorIs(t, err, actors.ErrSessionClosed)
		require.ErrorIs(t, session.Err(), actors.ErrSessionClosed)
	})
}

// TestCloseAnswersWhoWaits: a question that waits for the connection ends with the client.
func TestCloseAnswersWhoWaits(t *testing.T) {
	stories.EachServer(t, func(t *testing.T, at *stories.Servers) {
		proxy := at.Proxy(t)
		s := stage.New(t, proxy.Addr()+at.Root())
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
		case <-patient.Deadline(t).Done():
			t.Fatal("no answer")
		}
	})
}

// TestActorsAsk: an actor program asks the session actor and is answered by a message.
func TestActorsAsk(t *testing.T) {
	stories.EachServer(t, func(t *testing.T, at *stories.Servers) {
		s := stage.New(t, at.Connect())
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
			case <-patient.Deadline(t).Done():
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
		stage.Notice[*messages.RevokeRequested](t, r)
		require.Equal(t, messages.ReasonNone, ask(&messages.Break{Contender: q.Contenders[0]}).(*messages.Broken).Reason)
		require.Equal(t, messages.ReasonNodeDeleted, stage.Notice[*messages.Lost](t, r).Reason)
		require.Equal(t, messages.ReasonGone, ask(&messages.Break{Contender: q.Contenders[0]}).(*messages.Broken).Reason)
	})
}
