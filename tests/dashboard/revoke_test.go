package dashboard

import (
	"fmt"
	"net/http"
	"net/http/httptest"
	"testing"

	"github.com/chromedp/chromedp"
	"github.com/chromedp/chromedp/kb"
	"github.com/stretchr/testify/require"

	"github.com/turnstile-locks/turnstile/locks"
	"github.com/turnstile-locks/turnstile/tests/scene"
)

// asked reports whether a lease has been asked for.
func asked(lease *locks.Lease) bool {
	select {
	case <-lease.Revoked():
		return true
	default:
		return false
	}
}

// press types keys, such as a tab.
func (p *tab) press(keys string) { p.t.Helper(); p.do(chromedp.KeyEvent(keys)) }

// focused is an expression: the id of the element that has the focus.
const focused = `document.activeElement.id`

// TestRevokeByKeyboard reaches the button by the tab key alone. A wrong token asks nobody; the right one asks the holder.
func TestRevokeByKeyboard(t *testing.T) {
	h := serve(t)
	lease := scene.Locked(t, h.client.Mutex("/app/lock", locks.WithLabel("holder")).Lock)
	p := open(t, h.page("/app/lock"))
	p.until("it is held", `%s === "holder" && !document.querySelector("#revoke").hidden`, holder)

	reached := false
	for range 20 {
		p.press(kb.Tab)
		if reached = ask[string](p, focused) == "revoke"; reached {
			break
		}
	}
	require.True(t, reached, "the tab key does not get to the button")
	require.True(t, ask[bool](p, `document.activeElement.matches(":focus-visible") && getComputedStyle(document.activeElement).outlineStyle !== "none"`))

	p.press(kb.Enter)
	p.until("it asks for the token", `document.querySelector("#ask").open && %s === "ask-token"`, focused)
	require.Contains(t, ask[string](p, `document.querySelector("#ask-whom").textContent`), "holder holds it, with token "+lease.Token().String())
	p.press(kb.Escape)
	p.until("it is as before", `!document.querySelector("#ask").open && %s === "revoke"`, focused)

	p.press(kb.Enter)
	p.press("wrong" + kb.Enter)
	p.until("it is refused", `document.querySelector("#ask-answer").textContent === "✕ That is not the token that the dashboard was started with."`)
	require.False(t, asked(lease))
	p.press(token + kb.Enter) // over the wrong one
	p.until("the holder is asked", `document.querySelector("#ask-answer").textContent === "✓ Asked: holder."`)
	<-lease.Revoked()
	p.press(kb.Enter)
	p.until("the page says so, and still knows who it is", `!document.querySelector("#ask").open && %s === "revoke" && %s === "holder" &&
		document.querySelector("#state").dataset.state === "revoking" && document.querySelector("#event-rows tr").dataset.what === "asked"`, focused, holder)
	require.Empty(t, ask[string](p, `document.querySelector("#ask-token").value`), "the token is kept nowhere")
	require.Equal(t, int64(0), ask[int64](p, "localStorage.length + sessionStorage.length + document.cookie.length"))
	scene.GiveBack(t, lease)
}

// TestRevokeSomebodyElse: between looking and asking, the lock has changed hands. Nobody is asked.
func TestRevokeSomebodyElse(t *testing.T) {
	h := serve(t)
	first := scene.Locked(t, h.client.Mutex("/app/lock", locks.WithLabel("first")).Lock)
	p := open(t, h.page("/app/lock"))
	p.until("the first holds", `%s === "first"`, holder)
	p.do(chromedp.Click(chromedp.CSS("#revoke")))
	p.until("it asks for the token", `document.querySelector("#ask").open`)
	granted := request(t, h.client.Mutex("/app/lock", locks.WithLabel("second")))
	p.until("the second waits", `%s === "second"`, waiters)
	scene.GiveBack(t, first)
	second := <-granted
	p.until("the second holds", `%s === "second"`, holder)
	require.Contains(t, ask[string](p, `document.querySelector("#ask-whom").textContent`), "first holds it", "who is asked is who was read")
	p.press(token + kb.Enter)
	p.until("nobody is asked", `document.querySelector("#ask-answer").textContent.startsWith("✕ Somebody else holds the lock by now.")`)
	require.False(t, asked(second))
	scene.GiveBack(t, second)
}

// TestOtherOrigins: a page of another origin that knows even the token can ask for nothing, in no way a page can try,
// and can read nothing.
func TestOtherOrigins(t *testing.T) {
	h := serve(t)
	ctx := scene.Deadline(t)
	lease := scene.Locked(t, h.client.Mutex("/app/lock").Lock)
	other := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "text/html")
		_, _ = fmt.Fprint(w, "<!doctype html><title>another site</title>")
	}))
	t.Cleanup(other.Close)
	p := open(t, other.URL)
	body := quote(`{"path":"/app/lock"}`)
	for name, script := range map[string]string{
		"with the token": `fetch(%[1]q + "/revoke", {method: "POST", headers: {"Content-Type": "application/json", Authorization: "Bearer " + %[2]q}, body: %[3]s})`,
		"blindly":        `fetch(%[1]q + "/revoke", {method: "POST", mode: "no-cors", body: %[3]s})`,
		"reading":        `fetch(%[1]q + "/events")`,
	} {
		script = fmt.Sprintf(script, h.server.URL, token, body)
		ask[bool](p, "(window.end = undefined, %s.then(async (r) => { window.end = r.type + \" \" + await r.text(); }, (e) => { window.end = \"refused\"; }), true)", script)
		p.until("it has ended: "+name, "window.end")
		require.Contains(t, []string{"refused", "opaque "}, ask[string](p, "window.end"), name)
	}
	ask[bool](p, `(window.end = undefined, window.source = new EventSource(%q), source.onmessage = source.onopen = () => { window.end = "open"; }, source.onerror = () => { window.end = "refused"; }, true)`, h.server.URL+"/events")
	p.until("the stream has an end", "window.end")
	require.Equal(t, "refused", ask[string](p, "source.close(), window.end"))
	queue, err := h.client.Queue(ctx, "/app/lock")
	require.NoError(t, err)
	require.False(t, queue[0].Asked)
	require.False(t, asked(lease))
	scene.GiveBack(t, lease)
}
