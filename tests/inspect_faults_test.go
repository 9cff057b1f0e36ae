package tests

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/turnstile-locks/turnstile/locks"
	"github.com/turnstile-locks/turnstile/tests/rig"
)

// meets are the faults that a request may meet on its way: it was carried out, or it was not, and nobody was told.
var meets = map[string]rig.Action{"its reply is lost": rig.DropReply, "it is lost": rig.CutBefore}

// TestBreakIsFollowedToItsEnd: one delete, and the caller learns that it was done.
func TestBreakIsFollowedToItsEnd(t *testing.T) {
	eachServer(t, func(t *testing.T, at *servers) {
		holder := open(t, at.Connect())
		proxy := at.Proxy(t)
		operator := open(t, proxy.Addr()+at.Root())
		for name, action := range meets {
			t.Run(name, func(t *testing.T) {
				lease, err := holder.Mutex("/broken").Lock(deadline(t))
				require.NoError(t, err)
				c := queueOf(t, operator, "/broken")[0]
				fault := proxy.Expect(rig.Rule{Op: rig.OpDelete, Action: action})
				require.NoError(t, operator.Break(deadline(t), c))
				<-fault.Fired()
				awaitLost(t, lease)
				require.Empty(t, queueOf(t, operator, "/broken"))
				require.ErrorIs(t, operator.Break(deadline(t), c), locks.ErrGone)
			})
		}
	})
}

// TestRevokeIsFollowedToItsEnd: the holder is asked.
func TestRevokeIsFollowedToItsEnd(t *testing.T) {
	eachServer(t, func(t *testing.T, at *servers) {
		holder := open(t, at.Connect())
		proxy := at.Proxy(t)
		asker := open(t, proxy.Addr()+at.Root())
		for name, action := range meets {
			t.Run(name, func(t *testing.T) {
				lease, err := holder.Mutex("/asked").Lock(deadline(t))
				require.NoError(t, err)
				fault := proxy.Expect(rig.Rule{Op: rig.OpSetData, Action: action})
				asked, err := asker.Revoke(deadline(t), "/asked")
				require.NoError(t, err)
				require.Equal(t, []string{lease.Node()}, nodesOf(asked))
				<-fault.Fired()
				awaitAsked(t, lease)
				giveBack(t, lease)
			})
		}
	})
}

// TestQueueIsReadToItsEnd, whichever of its requests is lost.
func TestQueueIsReadToItsEnd(t *testing.T) {
	eachServer(t, func(t *testing.T, at *servers) {
		lease, err := open(t, at.Connect()).Mutex("/read").Lock(deadline(t))
		require.NoError(t, err)
		proxy := at.Proxy(t)
		client := open(t, proxy.Addr()+at.Root())
		for _, op := range []rig.OpCode{rig.OpMulti, rig.OpExists, rig.OpGetChildren2, rig.OpGetData} {
			for _, action := range meets {
				fault := proxy.Expect(rig.Rule{Op: op, Action: action})
				all := queueOf(t, client, "/read")
				<-fault.Fired()
				require.Len(t, all, 1)
				require.Equal(t, lease.Token(), all[0].Token)
			}
		}
	})
}
