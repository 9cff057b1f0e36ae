package rig

import (
	"context"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/go-zookeeper/zk"
)

func TestStopRemovesEverything(t *testing.T) {
	Require(t)
	server, err := NewStandalone()
	if err != nil {
		t.Fatal(err)
	}
	for range 2 {
		if err := server.Stop(); err != nil {
			t.Fatal(err)
		}
	}
	if _, err := os.Stat(server.dir); !os.IsNotExist(err) {
		t.Errorf("data is still there: %v", err)
	}
	if err := server.Restart(testContext(t)); err == nil {
		t.Error("a stopped server was restarted")
	}
}

func TestCountsFollowSessions(t *testing.T) {
	ctx := testContext(t)
	server := StartStandalone(t)
	counts := func() [3]int {
		t.Helper()
		var got [3]int
		for i, count := range []func(context.Context) (int, error){server.Address().Sessions, server.Address().Watches, server.Address().Ephemerals} {
			n, err := count(ctx)
			if err != nil {
				t.Fatal(err)
			}
			got[i] = n
		}
		return got
	}
	if got := counts(); got != [3]int{} {
		t.Errorf("at first: %v", got)
	}
	c := connect(t, server.Addr())
	create(t, c, "/mortal", zk.FlagEphemeral)
	if _, _, _, err := c.GetW("/mortal"); err != nil {
		t.Fatal(err)
	}
	if got := counts(); got != [3]int{1, 1, 1} {
		t.Errorf("sessions, watches, ephemerals: %v", got)
	}
	begin := time.Now()
	c.Close()
	closed := time.Since(begin)
	eventually(t, "all counts at zero", func() bool { return counts() == [3]int{} })
	t.Logf("close took %v, counts were zero %v after its start", closed, time.Since(begin))
}

func TestOptionsReachTheServer(t *testing.T) {
	server := StartStandalone(t,
		WithTickTime(time.Second),
		WithMinSessionTimeout(300*time.Millisecond),
		WithConfig("maxSessionTimeout", "3000"),
		WithSystemProperty("znode.container.checkIntervalMs", "50"))
	conf, err := server.Address().FourLetter(testContext(t), "conf")
	if err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{"tickTime=1000\n", "minSessionTimeout=300\n", "maxSessionTimeout=3000\n"} {
		if !strings.Contains(conf, want) {
			t.Errorf("no %q in\n%s", want, conf)
		}
	}
	// The container is reaped long before the minute that is the default.
	c := connect(t, server.Addr())
	if _, err := c.CreateContainer("/container", nil, zk.FlagContainer, everyone); err != nil {
		t.Fatal(err)
	}
	create(t, c, "/container/child", 0)
	if err := c.Delete("/container/child", -1); err != nil {
		t.Fatal(err)
	}
	eventually(t, "the container is reaped", func() bool { return !exists(t, c, "/container") })
	if _, err := c.CreateTTL("/brief", nil, zk.FlagTTL, everyone, time.Millisecond); err != nil {
		t.Errorf("a node with a time to live: %v", err)
	}
}
