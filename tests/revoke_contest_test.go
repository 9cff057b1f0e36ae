package tests

import (
	"bytes"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/turnstile-locks/turnstile/locks"
)

// TestContestSaysWhoHoldsAgain: a revoke request was meant for the holder before, and arrives when another has made
// the node anew: it names the one before. The new holder is asked, knows its node by the servers' numbers and not by
// what was written there, and soon the node names it again.
func TestContestSaysWhoHoldsAgain(t *testing.T) {
	eachServer(t, func(t *testing.T, at *servers) {
		one, two, asker, raw := open(t, at.Connect()), open(t, at.Connect()), open(t, at.Connect()), at.Raw(t)
		before, err := one.Contest("/late", locks.WithLabel("before")).Lock(deadline(t))
		require.NoError(t, err)
		_, err = asker.Revoke(deadline(t), "/late")
		require.NoError(t, err)
		_, err = raw.Sync(at.Root() + "/late") // its member may lag
		require.NoError(t, err)
		late, _, err := raw.Get(at.Root() + "/late")
		require.NoError(t, err)
		require.Contains(t, string(late), "before")
		require.False(t, bytes.Contains(late, []byte(`"id"`)), "nobody knows its node by a request: %s", late)
		giveBack(t, before)

		lease, err := two.Contest("/late", locks.WithLabel("now")).Lock(deadline(t))
		require.NoError(t, err)
		_, err = raw.Set(at.Root()+"/late", late, 0)
		require.NoError(t, err)
		awaitAsked(t, lease)
		eventually(t, func() bool {
			all := queueOf(t, asker, "/late")
			return len(all) == 1 && all[0].Label == "now" && all[0].Asked
		}, "it goes on naming the one before")
		require.True(t, lease.Valid())
		require.Equal(t, lease.Session(), queueOf(t, asker, "/late")[0].Session)
		giveBack(t, lease)
		awaitNone(t, at, "")
	})
}
