package sharing

import (
	"fmt"
	"sync"
	"testing"
	"time"

	"github.com/asynkron/protoactor-go/actor"
	"github.com/stretchr/testify/require"

	"github.com/turnstile-locks/turnstile/actors/turns"
	"github.com/turnstile-locks/turnstile/messages"
	"github.com/turnstile-locks/turnstile/zkconn"
)

// heard has what Notices tell, in words.
type heard []string

func (h *heard) hear(notice any) {
	said := fmt.Sprintf("%T", notice)[len("*messages."):]
	if t, is := notice.(*messages.Transition); is {
		said = t.To.String()
	}
	*h = append(*h, said)
}

// TestNotices: what is told is what a lock actor would tell, and nothing after the end.
func TestNotices(t *testing.T) {
	clock := zkconn.NewLeaseClock(nil)
	hold := &Hold{Held: &messages.Held{Grant: messages.Grant{Path: "/a", Node: "n"}}, Clock: clock}
	grant := func(n *Notices) { n.Granted(1, hold, 7)() }
	tell := func(state messages.State) func(*Notices) {
		return func(n *Notices) { n.Told(state, time.Time{}, "", "") }
	}
	refuse := func(why messages.Reason) func(*Notices) { return func(n *Notices) { n.Refused(why, "", More{}) } }
	leave := func(n *Notices) { n.Leaves(messages.ReasonReleased) }
	withdraw := refuse(messages.ReasonOwnerGone)
	suspend, resume := tell(messages.StateRecovering), tell(messages.StateHeld)
	release, lose := tell(messages.StateReleased), tell(messages.StateLost)
	for name, c := range map[string]struct {
		does []func(*Notices)
		want []string
	}{
		"held":                   {[]func(*Notices){grant, release, lose}, []string{"creating", "held", "Held", "releasing", "released", "Released"}},
		"waits, given back":      {[]func(*Notices){(*Notices).Waits, grant, leave, resume, release}, []string{"creating", "watching", "held", "Held", "releasing", "released", "Released"}},
		"suspended":              {[]func(*Notices){grant, suspend, resume}, []string{"creating", "held", "Held", "recovering", "Suspended", "held", "Resumed"}},
		"revoked, and suspended": {[]func(*Notices){grant, (*Notices).Revoke, (*Notices).Revoke, suspend, resume}, []string{"creating", "held", "Held", "revoking", "RevokeRequested", "recovering", "Suspended", "revoking", "Resumed"}},
		"asked while suspended":  {[]func(*Notices){grant, suspend, (*Notices).Revoke}, []string{"creating", "held", "Held", "recovering", "Suspended"}},
		"the grace is over":      {[]func(*Notices){grant, tell(messages.StateRevoking), tell(messages.StateReleasing), release}, []string{"creating", "held", "Held", "revoking", "RevokeRequested", "releasing", "Revoked", "released", "Released"}},
		"lost":                   {[]func(*Notices){grant, lose, release}, []string{"creating", "held", "Held", "lost", "Lost"}},
		"not given back":         {[]func(*Notices){grant, tell(messages.StateFailed)}, []string{"creating", "held", "Held", "releasing", "failed", "Failed"}},
		"lost before it is told": {[]func(*Notices){lose, grant}, []string{"creating", "releasing", "cancelled", "Cancelled"}},
		"a try":                  {[]func(*Notices){refuse(messages.ReasonNotAcquired)}, []string{"creating", "releasing", "cancelled", "Cancelled"}},
		"refused":                {[]func(*Notices){refuse(messages.ReasonReentry), grant}, []string{"creating", "failed", "Failed"}},
		"withdrawn":              {[]func(*Notices){leave, withdraw, withdraw}, []string{"creating", "releasing", "cancelled", "Cancelled"}},
	} {
		t.Run(name, func(t *testing.T) {
			var all heard
			n := NewNotices("/a", all.hear)
			for _, do := range c.does {
				do(n)
			}
			require.Equal(t, c.want, []string(all))
		})
	}
}

// TestReasonsOfNotices: one that did not hold was not released.
func TestReasonsOfNotices(t *testing.T) {
	n := NewNotices("/a", func(any) {})
	require.Equal(t, messages.ReasonCancelled, n.Leaves(messages.ReasonReleased))
	require.Equal(t, messages.ReasonCancelled, n.Leaves(messages.ReasonOwnerGone), "it leaves already")
	require.Equal(t, messages.ReasonOwnerGone, NewNotices("/a", func(any) {}).Leaves(messages.ReasonOwnerGone))
}

// own is a call with an observer.
type own struct {
	user
	observer *actor.PID
}

func (o *own) Troubled(string)             {}
func (o *own) Path() string                { return "/a" }
func (o *own) Observers() []*actor.PID     { return []*actor.PID{o.observer} }
func (o *own) LockActors() *sync.WaitGroup { return nil }

// TestObserversOfCallsWithoutALockActor: a call that is refused inside has none, and one that shares the
// hold of the lease that it is made within. A lock actor tells them itself.
func TestObserversOfCallsWithoutALockActor(t *testing.T) {
	b := newBelow(t)
	told := make(chan any, 100)
	observer := b.system.Root.Spawn(actor.PropsFromFunc(func(ctx actor.Context) {
		switch ctx.Message().(type) {
		case actor.SystemMessage, actor.AutoReceiveMessage:
		default:
			told <- ctx.Message()
		}
	}))
	until := func(last any) (all heard) {
		for {
			select {
			case notice := <-told:
				if all.hear(notice); fmt.Sprintf("%T", notice) == fmt.Sprintf("%T", last) {
					return all
				}
			case <-time.After(time.Minute):
				t.Fatal("it is not told", all)
			}
		}
	}
	want := wantOf(func(w *turns.Want) { w.Alone = true })
	call := func(want *turns.Want, within turns.CallID) *own {
		o := &own{observer: observer}
		o.id = b.calls.Call(want, within, o)
		return o
	}
	first := call(want, 0)
	b.locks[0].hold()
	require.Equal(t, "granted", first.told())
	require.Empty(t, told)

	inner := call(want, first.id)
	require.Equal(t, "refused: "+string(messages.ReasonReentry), inner.told())
	require.Equal(t, heard{"creating", "failed", "Failed"}, until(&messages.Failed{}))

	inner = call(wantOf(func(w *turns.Want) { w.Alone, w.Reentry = true, true }), first.id)
	require.Equal(t, "granted", inner.told())
	require.Equal(t, heard{"creating", "held", "Held"}, until(&messages.Held{}))
	b.calls.GiveBack(inner.id)
	require.Equal(t, heard{"releasing", "released", "Released"}, until(&messages.Released{}))
	b.calls.GiveBack(first.id)
	require.True(t, b.calls.Wait(t.Context()))
	require.Empty(t, told)
}
