package kerberos

import (
	"fmt"
	"sync"
	"testing"

	"github.com/go-zookeeper/zk"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/turnstile-locks/turnstile/locks"
	"github.com/turnstile-locks/turnstile/tests/interop"
	"github.com/turnstile-locks/turnstile/tests/rig"
	"github.com/turnstile-locks/turnstile/tests/rig/kdc"
	"github.com/turnstile-locks/turnstile/zkconn"
)

// Curator and Turnstile contend for one lock, each with a keytab, on nodes that are for their principals alone.
func TestBesideCurator(t *testing.T) {
	interop.Require(t)
	k := newRealm(t)
	server, path := demandingServer.Get(t), fresh("/app")+"/lock"
	witness := interop.StartWitness(t)

	// Both of them, and nobody else: bob has no part in it.
	k.Add(t, "java")
	both := []zk.ACL{{Perms: zk.PermAll, Scheme: "sasl", ID: "alice"}, {Perms: zk.PermAll, Scheme: "sasl", ID: "java"}}
	alice := open(t, server.Addr(), as(t, k, "alice"), locks.WithACL(both...), locks.WithParentACL(both...))
	use(t, alice, path)

	worker, err := interop.NewCuratorWith(k.Java(t, "java")...)
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, worker.Stop()) })
	const rounds, threads = 20, 3
	job := interop.Job{Name: "java", Recipe: interop.Mutex, Connect: server.Addr(), Path: path,
		Witness: witness.Addr(), Threads: threads, Rounds: rounds}
	var all sync.WaitGroup
	all.Go(func() {
		summary, err := worker.Run(deadline(t), job)
		if err != nil || summary.Acquired != rounds*threads {
			t.Errorf("Curator: %+v: %v\n%s", summary, err, worker.Output())
		}
	})
	for thread := range threads {
		name := fmt.Sprint("go/", thread)
		all.Go(func() {
			for range rounds {
				lease, err := alice.Mutex(path).Lock(deadline(t))
				if !assert.NoError(t, err) {
					return
				}
				assert.NoError(t, witness.EnterWith(lease.Node(), name, path, interop.Exclusive()))
				assert.NoError(t, witness.Leave(name, path))
				assert.NoError(t, lease.Unlock(deadline(t)))
			}
		})
	}
	all.Wait()
	require.Empty(t, witness.Violations())
	require.Len(t, witness.Entries(), 2*rounds*threads)

	_, err = open(t, server.Addr(), as(t, k, "bob")).Mutex(path).Lock(deadline(t))
	require.ErrorIs(t, err, zkconn.ErrNoAuth)
}

// Who a client is in ACLs is for the servers to say: its whole principal, or the first part of it.
func TestWhoClientsAre(t *testing.T) {
	k := newRealm(t)
	k.Add(t, "app/host1", "app/host2")
	whole := rig.StartStandalone(t, append(demanding(t, k), rig.WithConfig("kerberos.removeHostFromPrincipal", "false"),
		rig.WithConfig("kerberos.removeRealmFromPrincipal", "false"))...)
	for _, c := range []struct {
		server *rig.Server
		share  bool
		first  string
	}{
		{demandingServer.Get(t), true, "app"},
		{whole, false, "app/host1@" + kdc.Realm},
	} {
		addr, mine, named := c.server.Addr(), fresh("/mine"), fresh("/named")
		first := open(t, addr, as(t, k, "app/host1"), onlyMe)
		use(t, first, mine)
		use(t, open(t, addr, as(t, k, "app/host1"), locks.WithACL(zkconn.SASLACL(zk.PermAll, c.first))), named)
		use(t, first, named)
		_, err := open(t, addr, as(t, k, "app/host2"), onlyMe).Mutex(mine).Lock(deadline(t))
		if c.share {
			require.NoError(t, err)
		} else {
			require.ErrorIs(t, err, zkconn.ErrNoAuth)
		}
	}
}
