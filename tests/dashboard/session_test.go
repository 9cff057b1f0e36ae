package dashboard

import (
	"testing"
	"time"

	"github.com/go-zookeeper/zk"
	"github.com/stretchr/testify/require"

	"github.com/turnstile-locks/turnstile/locks"
	"github.com/turnstile-locks/turnstile/tests/rig"
	"github.com/turnstile-locks/turnstile/tests/scene"
	"github.com/turnstile-locks/turnstile/zkconn/embedded"
)

// phases is an expression: the states that the dashboard's own session went through, the newest first.
const phases = `[...document.querySelectorAll("#chain-rows li")].map((li) => li.dataset.state).join()`

// TestSessionsAreShown: a session has what its nodes weigh, until it has none.
func TestSessionsAreShown(t *testing.T) {
	h := serve(t)
	lease := scene.Locked(t, h.client.Mutex("/app/heavy").Lock)
	all := open(t, h.page(""))
	all.until("the session with its weight", `(() => {
		const [nodes, weight] = [...document.querySelectorAll("#session-rows tr td")].map((td) => parseInt(td.textContent));
		return nodes === 1 && weight === %d;
	})()`, 4+len("/app/heavy/")+len(lease.Node()))
	all.until("whose it is", `document.querySelector("#session-rows .note").textContent === "session 0x%x"`, h.client.State().ID)
	scene.GiveBack(t, lease)
	all.until("no session has nodes", `!document.querySelector("#sessions-empty").hidden`)
}

// TestMayHoldIsMarked: a contender with kazoo's name behind one with another name, which it does not see.
func TestMayHoldIsMarked(t *testing.T) {
	h := serve(t)
	lease := scene.Locked(t, h.client.Mutex("/app/shared", locks.WithLabel("holder")).Lock)
	kazoo, _, err := zk.Connect([]string{h.zk.Addr()}, scene.Session, zk.WithLogger(rig.Silent{}))
	require.NoError(t, err)
	t.Cleanup(kazoo.Close)
	_, err = kazoo.Create("/app/shared/0123456789abcdef0123456789abcdef__lock__", []byte("billing"), zk.FlagEphemeral|zk.FlagSequence, zk.WorldACL(zk.PermAll))
	require.NoError(t, err)
	one := open(t, h.page("/app/shared"))
	one.until("it is marked in words", `document.querySelector('#waiter-rows [data-state="may hold"]')?.textContent === "◐ may hold"`)
	require.NotZero(t, ask[int](one, `document.querySelector('#waiter-rows [data-state="may hold"]').offsetWidth`), "and is seen")
	require.Contains(t, ask[string](one, `document.querySelector('#waiter-rows [data-state="may hold"]').title`), "kazoo")
	scene.GiveBack(t, lease)
	one.until("it holds", `document.querySelectorAll("#holder-rows tr").length === 1 && !document.querySelector('[data-state="may hold"]')`)
}

// TestOwnSessionIsShown: a session that expires is followed by another, both on the strip and in words, and each proof is
// a line.
func TestOwnSessionIsShown(t *testing.T) {
	h := serve(t)
	p := open(t, h.page(""))
	p.until("it is connected", `document.querySelector("#chain-state").textContent === "● connected" && %s.startsWith("connected")`, phases)
	p.until("a lease would last", `/^a lease would last [\d.]+ s more$/.test(document.querySelector("#chain-lease").textContent)`)
	p.until("there are proofs", `document.querySelectorAll("#chain .proof").length >= 1`)
	before := h.looking.State().ID
	require.NoError(t, h.zk.Expire(before))
	p.until("the next session is told of", `document.querySelector("#chain-epochs").textContent === "2 sessions since the start" &&
		document.querySelector("#chain-sentence").textContent.includes("the 2nd") && document.querySelector("#chain-state").dataset.state === "connected"`)
	require.NotEqual(t, before, h.looking.State().ID)
	require.True(t, ask[bool](p, `["0", "1"].every((epoch) => document.querySelector('#chain .phase[data-epoch="' + epoch + '"]'))`), "both are on the strip")
	require.Equal(t, ask[int](p, `document.querySelectorAll("#chain .phase").length`), ask[int](p, `document.querySelectorAll("#chain-rows li").length`))
}

// TestLapseIsShown: a session that its servers do not prove in time has lapsed, and the page says what that means.
func TestLapseIsShown(t *testing.T) {
	server := embedded.Run(t)
	h := serveAt(t, server.Addr(), locks.WithSessionTimeout(4*time.Second))
	p := open(t, h.page(""))
	p.until("it is connected", `%s.includes("connected")`, phases)
	server.Replica(0).Stop()
	// Its time may be over before the browser has looked: then it connects for another session, and the strip has both.
	p.until("it has lapsed", `["lapsed", "connecting"].includes(document.querySelector("#chain-state").dataset.state) && %s.includes("lapsed,disconnected")`, phases)
	p.until("no lease", `document.querySelector("#chain-lease").textContent === "no lease would be granted"`)
	require.Contains(t, ask[string](p, `document.querySelector('#chain .phase[data-state="lapsed"]').title`), "no lease may rest on this session")
	require.NoError(t, server.Replica(0).Start())
}
