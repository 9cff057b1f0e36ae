package zkconn_test

import (
	"testing"

	"github.com/go-zookeeper/zk"
	"github.com/stretchr/testify/require"

	"github.com/turnstile-locks/turnstile/tests/scene"
	"github.com/turnstile-locks/turnstile/zkconn"
	"github.com/turnstile-locks/turnstile/zkconn/embedded"
)

// TestTxnIsResolvedByAllThatItTakes: nodes that look as a transaction would have left them prove that it was carried out
// only where nobody else can have written them since, nothing older was left to hear of, and one transaction wrote them
// all. Otherwise the outcome stays unknown.
func TestTxnIsResolvedByAllThatItTakes(t *testing.T) {
	for name, c := range map[string]struct {
		apart     bool // one transaction for each node
		exclusive bool
		whole     bool
		want      zkconn.Outcome
	}{
		"all there is to know":       {exclusive: true, whole: true, want: zkconn.Applied},
		"others may write":           {whole: true, want: zkconn.Unknown},
		"an event came since":        {exclusive: true, want: zkconn.Unknown},
		"by two transactions":        {apart: true, exclusive: true, whole: true, want: zkconn.Unknown},
		"nothing that could tell it": {want: zkconn.Unknown},
	} {
		t.Run(name, func(t *testing.T) {
			conn := scene.Dial(t, embedded.Run(t).Addr())
			require.NoError(t, conn.EnsureParents("/a"))
			require.NoError(t, conn.EnsureParents("/b"))
			_, stat, err := conn.Get("/b")
			require.NoError(t, err)
			before := zkconn.Heard{Zxid: stat.Mzxid, Whole: c.whole}
			set := func(path string) zkconn.Op {
				return zkconn.Op{Kind: zkconn.OpSet, Path: path, Data: []byte("new"), Version: 0}
			}
			ops := []zkconn.Op{set("/a"), set("/b")}

			outcome, _, err := conn.ResolveTxn(ops, before, c.exclusive)
			require.NoError(t, err)
			require.Equal(t, zkconn.NotApplied, outcome, "it was not sent")

			sent := [][]zkconn.Op{ops}
			if c.apart {
				sent = [][]zkconn.Op{ops[:1], ops[1:]}
			}
			for _, part := range sent {
				_, _, err = conn.Txn(zkconn.Guard{Path: "/a", Version: -1}, part)
				require.NoError(t, err)
			}
			outcome, _, err = conn.ResolveTxn(ops, before, c.exclusive)
			require.NoError(t, err)
			require.Equal(t, c.want, outcome)
		})
	}
}

// TestTxnIsResolvedByOneNode: one node that was set or made is enough. One that was deleted is not: anybody may have done it.
func TestTxnIsResolvedByOneNode(t *testing.T) {
	conn := scene.Dial(t, embedded.Run(t).Addr())
	require.NoError(t, conn.EnsureParents("/a"))
	for _, c := range []struct {
		op   zkconn.Op
		want zkconn.Outcome
	}{
		{zkconn.Op{Kind: zkconn.OpSet, Path: "/a", Data: []byte("new"), Version: 0}, zkconn.Applied},
		{zkconn.Op{Kind: zkconn.OpCreate, Path: "/a/b", Data: []byte("new")}, zkconn.Applied},
		{zkconn.Op{Kind: zkconn.OpDelete, Path: "/a/b", Version: -1}, zkconn.Unknown},
	} {
		_, stat, err := conn.Get("/a")
		require.NoError(t, err)
		before := zkconn.Heard{Zxid: max(stat.Mzxid, stat.Pzxid), Whole: true}
		_, _, err = conn.Txn(zkconn.Guard{Path: "/a", Version: -1}, []zkconn.Op{c.op})
		require.NoError(t, err)
		outcome, _, err := conn.ResolveTxn([]zkconn.Op{c.op}, before, true)
		require.NoError(t, err)
		require.Equal(t, c.want, outcome, "%v", c.op.Kind)
	}
}

// TestTxnIsResolvedBesideWhatMayNotBeRead: a node that the session may not READ is no evidence, and no error. The outcome
// is unknown, unless another node shows that nothing was carried out.
func TestTxnIsResolvedBesideWhatMayNotBeRead(t *testing.T) {
	server := embedded.Run(t)
	hides := zkconn.WithParentACL(zk.WorldACL(zk.PermAll &^ zk.PermRead)...)
	require.NoError(t, scene.Dial(t, server.Addr(), hides).EnsureParents("/hidden"))
	conn := scene.Dial(t, server.Addr())
	require.NoError(t, conn.EnsureParents("/open"))
	_, stat, err := conn.Get("/open")
	require.NoError(t, err)
	before := zkconn.Heard{Zxid: stat.Mzxid, Whole: true}
	set := func(path string) zkconn.Op { return zkconn.Op{Kind: zkconn.OpSet, Path: path, Data: []byte("new")} }
	hidden := map[string]zkconn.Op{
		"set":               set("/hidden"),
		"create":            {Kind: zkconn.OpCreate, Path: "/hidden/a"},
		"sequential create": {Kind: zkconn.OpCreate, Path: "/hidden/n-", Sequential: true},
		"delete":            {Kind: zkconn.OpDelete, Path: "/hidden/a"},
	}
	resolve := func(ops ...zkconn.Op) zkconn.Outcome {
		outcome, _, err := conn.ResolveTxn(ops, before, true)
		require.NoError(t, err)
		return outcome
	}
	for name, op := range hidden {
		if op.Kind == zkconn.OpSet || op.Sequential {
			require.Equal(t, zkconn.Unknown, resolve(op), name)
		}
		require.Equal(t, zkconn.NotApplied, resolve(op, set("/open")), name)
	}
	ops := []zkconn.Op{set("/hidden"), set("/open")}
	_, _, err = conn.Txn(zkconn.Guard{Path: "/open", Version: -1}, ops)
	require.NoError(t, err)
	require.Equal(t, zkconn.Unknown, resolve(ops...))
}
