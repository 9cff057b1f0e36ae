package cluster

import (
	"errors"
	"fmt"
	"os/exec"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/turnstile-locks/turnstile/actors/gateway/grain"
	"github.com/turnstile-locks/turnstile/tests/scene"
)

// TestLocksOfCluster: a member without a session locks through the grains of members that have one.
// When one of these is killed, its locks are lost, the other's are not, and every path can be
// locked again.
func TestLocksOfCluster(t *testing.T) {
	eachServer(t, mortal, func(t *testing.T, w *world) {
		at := map[int64][]said{} // what is held, by the session that holds
		for i := 0; len(at) < 2; i++ {
			require.Less(t, i, 100, "all paths are at one member")
			path := fmt.Sprint("/jobs/", i)
			w.c.tell(t, command{Do: "lock", Path: path})
			held := w.c.hear(t, "held")
			require.True(t, held.Valid)
			require.Equal(t, 1, w.contenders(t, path))
			require.NotNil(t, w.bySessions[held.Session], "held by a session of the members'")
			at[held.Session] = append(at[held.Session], held)
		}
		require.NoError(t, w.bySessions[w.a.session].Kill())
		for _, gone := range at[w.a.session] {
			scene.Eventually(t, func() bool {
				w.c.tell(t, command{Do: "valid", Path: gone.Path})
				return !w.c.hear(t, "valid").Valid
			}, "%s is lost", gone.Path)
			w.c.tell(t, command{Do: "lock", Path: gone.Path})
			again := w.c.hear(t, "held")
			require.Equal(t, w.b.session, again.Session)
			require.Greater(t, again.Token, gone.Token)
			w.c.tell(t, command{Do: "unlock", Path: gone.Path})
			w.c.hear(t, "unlock")
			scene.Eventually(t, func() bool { return w.contenders(t, gone.Path) == 0 }, "no node is left")
		}
		for _, stays := range at[w.b.session] {
			w.c.tell(t, command{Do: "unlock", Path: stays.Path})
			w.c.hear(t, "unlock")
			scene.Eventually(t, func() bool { return w.contenders(t, stays.Path) == 0 }, "no node is left")
		}
	})
}

// TestTwoActivations: both members activate the grain of one path, and each of two requesters knows of
// another one. They queue in ZooKeeper, and one of them holds.
func TestTwoActivations(t *testing.T) {
	eachServer(t, scene.Session, func(t *testing.T, w *world) {
		const path = "/twice"
		requesters := map[*process]*process{w.c: w.a, w.b: w.b} // and whose activation they know of
		for asks, of := range requesters {
			asks.tell(t, command{Do: "activate", Path: path, Kind: grain.KindName, Address: of.address})
			activated := asks.hear(t, "activated")
			require.Equal(t, of.address, activated.Address)
			asks.tell(t, command{Do: "prefer", Path: path, Kind: grain.KindName,
				Address: activated.Address, ID: activated.ID})
			asks.hear(t, "preferred")
		}
		w.c.tell(t, command{Do: "lock", Path: path})
		first := w.c.hear(t, "held")
		require.Equal(t, w.a.session, first.Session)
		w.b.tell(t, command{Do: "lock", Path: path})
		scene.Eventually(t, func() bool { return w.contenders(t, path) == 2 }, "both queue")
		w.b.silent(t, time.Second)
		w.c.tell(t, command{Do: "valid", Path: path})
		require.True(t, w.c.hear(t, "valid").Valid)
		w.c.tell(t, command{Do: "unlock", Path: path})
		w.c.hear(t, "unlock")
		second := w.b.hear(t, "held")
		require.Equal(t, w.b.session, second.Session)
		require.Greater(t, second.Token, first.Token)
		w.b.tell(t, command{Do: "unlock", Path: path})
		w.b.hear(t, "unlock")
		scene.Eventually(t, func() bool { return w.contenders(t, path) == 0 }, "no node is left")
	})
}

// TestGrainIsServedOnce: both members activate one grain. One of them serves; the other one keeps what
// it is sent until the first has stopped, or its member was killed.
func TestGrainIsServedOnce(t *testing.T) {
	t.Parallel()
	for name, how := range map[string]struct {
		timeout time.Duration // of the first member's session
		end     func(*testing.T, *world, said)
	}{
		"stopped": {scene.Session, func(t *testing.T, w *world, first said) {
			w.c.tell(t, command{Do: "stop", Address: first.Address, ID: first.ID})
		}},
		"killed": {mortal, func(t *testing.T, w *world, _ said) { require.NoError(t, w.a.Kill()) }},
	} {
		t.Run(name, func(t *testing.T) {
			eachServer(t, how.timeout, func(t *testing.T, w *world) {
				var activated [2]said
				for i, of := range []*process{w.a, w.b} {
					w.c.tell(t, command{Do: "activate", Path: "seven/1", Kind: accounts, Address: of.address})
					activated[i] = w.c.hear(t, "activated")
					require.Equal(t, of.address, activated[i].Address)
					w.c.tell(t, command{Do: "send", Path: "hello", Address: of.address, ID: activated[i].ID})
					if i == 0 {
						for _, text := range []string{"Started", "ClusterInit seven/1", "hello"} {
							served := w.a.hear(t, "served")
							require.Equal(t, text, served.Text)
							require.Equal(t, "/grains/account/seven%2F1", served.Path)
						}
					}
				}
				scene.Eventually(t, func() bool { return w.contenders(t, "/grains/account/seven%2F1") == 2 }, "both queue")
				w.b.silent(t, time.Second)
				how.end(t, w, activated[0])
				for _, text := range []string{"Started", "ClusterInit seven/1", "hello"} {
					require.Equal(t, text, w.b.hear(t, "served").Text)
				}
				w.c.tell(t, command{Do: "send", Path: "more", Address: w.b.address, ID: activated[1].ID})
				require.True(t, w.b.hear(t, "served").Valid)
			})
		})
	}
}

// TestRequestFindsIt: a request of the cluster reaches the grain whose member holds, and is answered.
func TestRequestFindsIt(t *testing.T) {
	eachServer(t, scene.Session, func(t *testing.T, w *world) {
		w.a.tell(t, command{Do: "request", ID: "eight", Kind: accounts, Path: "hello"})
		require.Equal(t, "served hello", w.a.hear(t, "answered", "served").Text)
	})
}

// TestOnlyGrainsLinkTheCluster: only programs that import package grain link protoactor's cluster.
// Neither package activation nor package locks links gRPC.
func TestOnlyGrainsLinkTheCluster(t *testing.T) {
	const module, cluster = "github.com/turnstile-locks/turnstile/", "protoactor-go/cluster"
	list := func(pkg string) string {
		out, err := exec.CommandContext(scene.Deadline(t), "go", "list", "-deps", module+pkg).Output()
		var failed *exec.ExitError
		if errors.As(err, &failed) {
			t.Log(string(failed.Stderr))
		}
		require.NoError(t, err)
		return string(out)
	}
	for _, pkg := range []string{"locks", "actors", "actors/activation", "actors/gateway"} {
		require.NotContains(t, list(pkg), cluster, pkg)
	}
	for _, pkg := range []string{"locks", "actors", "actors/activation"} {
		require.NotContains(t, list(pkg), "google.golang.org/grpc", pkg)
	}
	require.Contains(t, list("actors/gateway/grain"), cluster, "or else this test shows nothing")
	require.NotContains(t, list("actors/gateway/grain"), "clusterproviders")
}
