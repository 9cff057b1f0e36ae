package dashboard

import (
	"net"
	"net/http/httptest"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/turnstile-locks/turnstile/locks"
	"github.com/turnstile-locks/turnstile/tests/patient"
)

// TestServerIsLost: the page says that it hears nothing, keeps what it showed, and goes on when the server is back.
func TestServerIsLost(t *testing.T) {
	browser.start(t)
	h := serve(t)
	ctx := patient.Deadline(t)
	lease, err := h.client.Mutex("/app/lock", locks.WithLabel("holder")).Lock(ctx)
	require.NoError(t, err)
	p := open(t, h.page("/app/lock"))
	p.until("it is live", `%s === "holder" && document.querySelector("#link").textContent.includes("Live")`, holder)

	handler, address := h.server.Config.Handler, h.server.Listener.Addr().String()
	h.server.CloseClientConnections()
	h.server.Close()
	p.until("the page says so", `document.querySelector("#alert-stream")?.textContent.includes("cannot be reached") && document.body.classList.contains("stale") &&
		document.querySelector("#link").textContent.includes("Not connected")`)
	require.Equal(t, "holder", ask[string](p, holder), "what was shown is still there")
	require.NoError(t, lease.Unlock(ctx))

	again := httptest.NewUnstartedServer(handler)
	_ = again.Listener.Close()
	patient.Eventually(t, func() bool {
		again.Listener, err = net.Listen("tcp", address)
		return err == nil
	}, "the address is free")
	again.Start()
	t.Cleanup(again.Close)
	t.Cleanup(again.CloseClientConnections)
	p.until("it goes on", `!document.querySelector("#alert-stream") && !document.body.classList.contains("stale") && document.querySelector("#state").dataset.state === "free"`)
}

// TestServerRefuses: the page of a node that is no lock says why it shows nothing, in the server's words.
func TestServerRefuses(t *testing.T) {
	browser.start(t)
	p := open(t, serve(t).page("/app//lock"))
	p.until("the page says why", `document.querySelector("#alert-stream")?.textContent.startsWith("That is no lock path: ")`)
}

// TestZooKeeperIsLost: the dashboard is there and ZooKeeper is not; when it is back, the locks are followed as before.
func TestZooKeeperIsLost(t *testing.T) {
	browser.start(t)
	h := serve(t)
	pages := []*tab{open(t, h.page("")), open(t, h.page("/app/lock"))}
	for _, p := range pages {
		p.until("it is live", `document.querySelector("#link").textContent.includes("Live") && !document.querySelector("#alert-trouble")`)
	}
	h.zk.Replica(0).Stop()
	for _, p := range pages {
		p.until("it says so", `document.querySelector("#alert-trouble")?.textContent.startsWith("ZooKeeper does not answer")`)
	}
	require.NoError(t, h.zk.Replica(0).Start())
	for _, p := range pages {
		p.until("it is well again", `!document.querySelector("#alert-trouble")`)
	}
	h.showsMoves(t, pages[0], pages[1])
}

// TestSessionExpires: the dashboard's session ends, and with it all its watches; the locks are followed in the next.
func TestSessionExpires(t *testing.T) {
	browser.start(t)
	h := serve(t)
	ctx := patient.Deadline(t)
	all, one := open(t, h.page("")), open(t, h.page("/app/lock"))
	for _, before := range []string{"free", "held"} {
		lease, err := h.client.Mutex("/app/lock", locks.WithLabel(before)).Lock(ctx)
		require.NoError(t, err)
		one.until("it is held", `%s === %q`, holder, before)
		if before == "free" {
			require.NoError(t, lease.Unlock(ctx))
			one.until("it is free", `document.querySelector("#state").dataset.state === "free"`)
		}
		session := h.looking.Session().ID()
		require.NoError(t, h.zk.Expire(session))
		patient.Eventually(t, func() bool { id := h.looking.Session().ID(); return id != 0 && id != session }, "there is another session")
		if before == "held" {
			require.NoError(t, lease.Unlock(ctx))
		}
		h.showsMoves(t, all, one)
	}
}

// showsMoves checks that the page of all locks, and the page of a free lock, show how the lock
// changes hands.
func (h *house) showsMoves(t *testing.T, all, one *tab) {
	t.Helper()
	ctx := patient.Deadline(t)
	first, err := h.client.Mutex("/app/lock", locks.WithLabel("after")).Lock(ctx)
	require.NoError(t, err)
	one.until("who holds is shown", `%s === "after"`, holder)
	all.until("who holds is shown", `%s.includes("|after|")`, cells("/app/lock"))
	granted := request(t, h.client.Mutex("/app/lock", locks.WithLabel("next")))
	one.until("who waits is shown", `%s === "next"`, waiters)
	require.NoError(t, first.Unlock(ctx))
	next := <-granted
	one.until("the hand-off is shown", `%s === "next" && %s === ""`, holder, waiters)
	all.until("the hand-off is shown", `%s.includes("|next|")`, cells("/app/lock"))
	require.NoError(t, next.Unlock(ctx))
	one.until("it is free", `document.querySelector("#state").dataset.state === "free" && !document.querySelector("#alert-trouble")`)
}
