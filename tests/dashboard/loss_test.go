package dashboard

import (
	"net"
	"net/http/httptest"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/turnstile-locks/turnstile/locks"
	"github.com/turnstile-locks/turnstile/tests/scene"
)

// TestServerIsLost: the page says that it hears nothing, keeps what it showed, and goes on when the server is back.
func TestServerIsLost(t *testing.T) {
	h := serve(t)
	lease := scene.Locked(t, h.client.Mutex("/app/lock", locks.WithLabel("holder")).Lock)
	p := open(t, h.page("/app/lock"))
	p.until("it is live", `%s === "holder" && document.querySelector("#link").textContent.includes("Live")`, holder)

	handler, address := h.server.Config.Handler, h.server.Listener.Addr().String()
	h.server.CloseClientConnections()
	h.server.Close()
	p.until("the page says so", `document.querySelector("#alert-stream")?.textContent.includes("cannot be reached") && document.body.classList.contains("stale") &&
		document.querySelector("#link").textContent.includes("Not connected")`)
	require.Equal(t, "holder", ask[string](p, holder), "what was shown is still there")
	scene.GiveBack(t, lease)

	again := httptest.NewUnstartedServer(handler)
	_ = again.Listener.Close()
	scene.Eventually(t, func() bool {
		listener, err := net.Listen("tcp", address)
		again.Listener = listener
		return err == nil
	}, "the address is free")
	again.Start()
	t.Cleanup(again.Close)
	t.Cleanup(again.CloseClientConnections)
	p.until("it goes on", `!document.querySelector("#alert-stream") && !document.body.classList.contains("stale") && document.querySelector("#state").dataset.state === "free"`)
}

// TestServerRefuses: the page of a node that is no lock says why it shows nothing, in the server's words.
func TestServerRefuses(t *testing.T) {
	p := open(t, serve(t).page("/app//lock"))
	p.until("the page says why", `document.querySelector("#alert-stream")?.textContent.startsWith("That is no lock path: ")`)
}

// TestZooKeeperIsLost: the dashboard is there and ZooKeeper is not. The pages say since when, and count on neither as live nor
// as held; the time line has a gap. When ZooKeeper is back, the locks are followed as before, and the gap stays.
func TestZooKeeperIsLost(t *testing.T) {
	h := serve(t)
	lease := scene.Locked(t, h.client.Mutex("/app/kept", locks.WithLabel("keeper")).Lock)
	all, one := open(t, h.page("")), open(t, h.page("/app/kept"))
	held := map[*tab]string{all: `document.querySelector('#lock-rows a[title="/app/kept"]')?.closest("tr").children[3].textContent`,
		one: `document.querySelector("#holder-rows tr")?.children[2].textContent`}
	const live = `document.querySelector("#link").textContent.includes("Live")`
	const drawnFor = `document.querySelector("#line .bar.open")?.title`
	for p, age := range held {
		p.until("it is live", live+` && !document.querySelector("#alert-trouble")`)
		p.until("it is held", `/s$/.test(%s) && %s`, age, drawnFor)
	}
	h.zk.Replica(0).Stop()
	for p, age := range held {
		p.until("it says so, and since when", `document.querySelector("#alert-trouble")?.textContent.startsWith("ZooKeeper does not answer. What you see is as it was at ") &&
			/No answer since \d\d:\d\d:\d\d$/.test(document.querySelector("#link").textContent) && !%s`, live)
		p.until("there is a gap", `document.querySelector("#line .gap")?.offsetWidth > 0`)
		before, drawn := ask[string](p, "%s", age), ask[string](p, drawnFor)
		gap := ask[float64](p, `parseFloat(document.querySelector("#line .gap").style.width)`)
		p.until("the gap grows", `parseFloat(document.querySelector("#line .gap")?.style.width) > %f + 6`, gap)
		require.Equal(t, before, ask[string](p, "%s", age), "it is not known to be held on")
		require.Equal(t, drawn, ask[string](p, drawnFor))
	}
	require.NoError(t, h.zk.Replica(0).Start())
	for p, age := range held {
		p.until("it is well again", live+` && !document.querySelector("#alert-trouble") && !document.body.classList.contains("stale")`)
		p.until("the gap stays", `document.querySelector("#line .gap")?.title.includes(" to ")`)
		before := ask[string](p, "%s", age)
		p.until("it counts on", `%s !== %q`, age, before)
	}
	scene.GiveBack(t, lease)
	h.showsMoves(t, all, open(t, h.page("/app/lock")))
}

// TestSessionExpires: the dashboard's session ends, and with it all its watches; the locks are followed in the next.
func TestSessionExpires(t *testing.T) {
	h := serve(t)
	all, one := open(t, h.page("")), open(t, h.page("/app/lock"))
	for _, before := range []string{"free", "held"} {
		lease := scene.Locked(t, h.client.Mutex("/app/lock", locks.WithLabel(before)).Lock)
		one.until("it is held", `%s === %q`, holder, before)
		if before == "free" {
			scene.GiveBack(t, lease)
			one.until("it is free", `document.querySelector("#state").dataset.state === "free"`)
		}
		session := h.looking.Session().ID()
		require.NoError(t, h.zk.Expire(session))
		scene.Eventually(t, func() bool { id := h.looking.Session().ID(); return id != 0 && id != session }, "there is another session")
		if before == "held" {
			scene.GiveBack(t, lease)
		}
		h.showsMoves(t, all, one)
	}
}

// showsMoves checks that the page of all locks, and the page of a free lock, show how the lock
// changes hands.
func (h *house) showsMoves(t *testing.T, all, one *tab) {
	t.Helper()
	first := scene.Locked(t, h.client.Mutex("/app/lock", locks.WithLabel("after")).Lock)
	one.until("who holds is shown", `%s === "after"`, holder)
	all.until("who holds is shown", `%s.includes("|after|")`, cells("/app/lock"))
	granted := request(t, h.client.Mutex("/app/lock", locks.WithLabel("next")))
	one.until("who waits is shown", `%s === "next"`, waiters)
	scene.GiveBack(t, first)
	next := <-granted
	one.until("the hand-off is shown", `%s === "next" && %s === ""`, holder, waiters)
	all.until("the hand-off is shown", `%s.includes("|next|")`, cells("/app/lock"))
	scene.GiveBack(t, next)
	one.until("it is free", `document.querySelector("#state").dataset.state === "free" && !document.querySelector("#alert-trouble")`)
}
