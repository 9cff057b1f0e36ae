package steady

import (
	"bufio"
	"fmt"
	"reflect"
	"runtime"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/asynkron/protoactor-go/actor"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/turnstile-locks/turnstile/zkconn/embedded"
)

// figures are what may not grow.
type figures [len(names)]int

var names = [...]string{"objects", "goroutines", "actors", "watchers", "entries", "watches", "nodes", "sessions", "connections"}

// What is no growth, for each operation: pools of objects, and idle workers of a session, come and go by a few. A leak is
// one for each operation.
const (
	objectsAtMost = 0.25
	othersAtMost  = 0.02
)

// requireNoGrowth prints the figures before and after so many operations, and compares them.
func requireNoGrowth(t *testing.T, before, after figures, operations float64) {
	t.Helper()
	most := objectsAtMost
	for i, name := range names {
		grown := float64(after[i]-before[i]) / operations
		t.Logf("%-11s %7d %7d  %+.2f for each", name, before[i], after[i], grown)
		assert.LessOrEqual(t, grown, most, "%s for each operation", name)
		most = othersAtMost
	}
}

// measure counts once everything is at rest.
func measure(t *testing.T, server *embedded.Server, system *actor.ActorSystem) (f figures) {
	t.Helper()
	time.Sleep(rest)
	synctest.Wait()
	f[0], f[1] = objects(), runtime.NumGoroutine() // first: to count the others takes some of both
	c := counts{seen: map[uintptr]bool{}}
	for _, bucket := range system.ProcessRegistry.LocalPIDs.LocalPIDs {
		for process := range bucket.IterBuffered() {
			f[2]++
			if !withRace { // nothing orders these reads before what the actors write later
				c.count(reflect.ValueOf(process.Val))
			}
		}
	}
	for i, key := range []string{"watch_count", "znode_count", "global_sessions", "num_alive_connections"} {
		f[5+i] = ask(t, server, key)
	}
	f[3], f[4] = c.watchers, c.entries
	return f
}

// rest is longer than anything keeps a thing for a while: an idle grain stays for a minute, a gateway remembers an ended
// request for two sessions.
const rest = 3 * time.Minute

// objects counts the live objects of the heap. The second collection empties what pools kept through the first.
func objects() int {
	var stats runtime.MemStats
	for range 3 {
		runtime.GC()
	}
	runtime.ReadMemStats(&stats)
	return int(stats.HeapObjects)
}

// ask asks a server for a figure of mntr.
func ask(t *testing.T, server *embedded.Server, key string) (figure int) {
	t.Helper()
	synctest.Wait() // the server may count the connection before
	conn, err := server.DialContext(t.Context(), "tcp", server.Addr())
	require.NoError(t, err)
	defer conn.Close()
	_, err = conn.Write([]byte("mntr"))
	require.NoError(t, err)
	for lines := bufio.NewScanner(conn); lines.Scan(); {
		if value, is := strings.CutPrefix(lines.Text(), "zk_"+key+"\t"); is {
			_, err = fmt.Sscan(value, &figure)
			require.NoError(t, err)
			return figure
		}
	}
	t.Fatalf("mntr has no %s", key)
	return 0
}

// counts are counted by reflection over the state of actors: the session with its coordinator, lock actors, gateways.
type counts struct {
	seen     map[uintptr]bool
	watchers int // of all actors
	entries  int // of the maps of Turnstile and of its ZooKeeper client
}

// count counts what a value holds. It looks into types of Turnstile, of the client of ZooKeeper, and of the contexts of
// actors; others hold what is not ours.
func (c *counts) count(v reflect.Value) {
	switch v.Kind() {
	case reflect.Pointer:
		if !v.IsNil() && looksInto(v.Type().Elem()) && !c.seen[v.Pointer()] {
			c.seen[v.Pointer()] = true
			c.count(v.Elem())
		}
	case reflect.Interface:
		c.count(v.Elem())
	case reflect.Struct:
		if v.Type() == reflect.TypeFor[actor.PIDSet]() {
			c.watchers += v.FieldByName("pids").Len()
			return
		}
		for i := range v.NumField() {
			c.count(v.Field(i))
		}
	case reflect.Map:
		c.entries += v.Len()
		for all := v.MapRange(); all.Next(); {
			c.count(all.Value())
		}
	case reflect.Slice:
		if v.Type().Elem().Kind() == reflect.Uint8 {
			return
		}
		for i := range v.Len() {
			c.count(v.Index(i))
		}
	}
}

func looksInto(t reflect.Type) bool {
	switch {
	case strings.Contains(t.PkgPath(), "/tests/"), strings.Contains(t.PkgPath(), "/embedded"):
		return false
	case strings.HasPrefix(t.PkgPath(), "github.com/turnstile-locks/"), strings.HasPrefix(t.PkgPath(), "github.com/go-zookeeper/"):
		return true
	case t.PkgPath() == reflect.TypeFor[actor.PID]().PkgPath():
		return strings.HasPrefix(t.Name(), "actorContext") || t.Name() == "ActorProcess" || t.Name() == "defaultMailbox" || t.Name() == "PIDSet"
	}
	return t.PkgPath() == "" || t.PkgPath() == "sync/atomic"
}
