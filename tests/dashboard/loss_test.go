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

// TestZooKeeperIsLost: the dashboard is there and ZooKeeper is not.
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
}
