package queues

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/turnstile-locks/turnstile/locks"
	"github.com/turnstile-locks/turnstile/tests/patient"
	"github.com/turnstile-locks/turnstile/tests/rig"
	"github.com/turnstile-locks/turnstile/tests/stories"
)

// meets are the faults that a request may meet on its way: it was carried out, or it was not, and nobody was told.
var meets = map[string]rig.Action{"its reply is lost": rig.DropReply, "it is lost": rig.CutBefore}

// TestBreakIsFollowedToItsEnd: one delete, and the caller learns that it was done.
func TestBreakIsFollowedToItsEnd(t *testing.T) {
	stories.EachServer(t, func(t *testing.T, at *stories.Servers) {
		holder := at.Open(t)
		proxy := at.Proxy(t)
		operator := patient.Open(t, proxy.Addr()+at.Root())
		for name, action := range meets {
			t.Run(name, func(t *testing.T) {
				lease := patient.Locked(t, holder.Mutex("/broken").Lock)
				c := patient.QueueOf(t, operator, "/broken")[0]
				fault := proxy.Expect(rig.Rule{Op: rig.OpDelete, Action: action})
				require.NoError(t, operator.Break(patient.Deadline(t), c))
				<-fault.Fired()
				patient.AwaitLost(t, lease)
				require.Empty(t, patient.QueueOf(t, operator, "/broken"))
				require.ErrorIs(t, operator.Break(patient.Deadline(t), c), locks.ErrGone)
			})
		}
	})
}

// TestRevokeIsFollowedToItsEnd: the holder is asked.
func TestRevokeIsFollowedToItsEnd(t *testing.T) {
	stories.EachServer(t, func(t *testing.T, at *stories.Servers) {
		holder := at.Open(t)
		proxy := at.Proxy(t)
		asker := patient.Open(t, proxy.Addr()+at.Root())
		for name, action := range meets {
			t.Run(name, func(t *testing.T) {
				lease := patient.Locked(t, holder.Mutex("/asked").Lock)
				fault := proxy.Expect(rig.Rule{Op: rig.OpSetData, Action: action})
				asked, err := asker.Revoke(patient.Deadline(t), "/asked")
				require.NoError(t, err)
				require.Equal(t, []string{lease.Node()}, nodesOf(asked))
				<-fault.Fired()
				patient.AwaitAsked(t, lease)
				patient.GiveBack(t, lease)
			})
		}
	})
}

// TestQueueIsReadToItsEnd, whichever of its requests is lost.
func TestQueueIsReadToItsEnd(t *testing.T) {
	stories.EachServer(t, func(t *testing.T, at *stories.Servers) {
		lease := patient.Locked(t, at.Open(t).Mutex("/read").Lock)
		proxy := at.Proxy(t)
		client := patient.Open(t, proxy.Addr()+at.Root())
		for _, op := range []rig.OpCode{rig.OpMulti, rig.OpExists, rig.OpGetChildren2, rig.OpGetData} {
			for _, action := range meets {
				fault := proxy.Expect(rig.Rule{Op: op, Action: action})
				all := patient.QueueOf(t, client, "/read")
				<-fault.Fired()
				require.Len(t, all, 1)
				require.Equal(t, lease.Token(), all[0].Token)
			}
		}
	})
}
