package dashboard

import (
	"testing"

	"github.com/chromedp/chromedp"
	"github.com/stretchr/testify/require"

	"github.com/turnstile-locks/turnstile/locks"
	"github.com/turnstile-locks/turnstile/tests/scene"
)

// holder is an expression: the name of the holder, on a lock's page.
const holder = `document.querySelector("#holder-rows .who")?.textContent`

// waiters is an expression: the names of the waiters, in their order.
const waiters = `[...document.querySelectorAll("#waiter-rows .who")].map((who) => who.textContent).join()`

// cells is an expression: a lock's row in the table of all locks, as text.
func cells(path string) string {
	return `[...(document.querySelector("#lock-rows a[title=" + CSS.escape(` + quote(path) + `) + "]")?.closest("tr").children ?? [])].map((c) => c.textContent.trim()).join("|")`
}

// request asks for a lock on a goroutine.
func request(t *testing.T, mutex *locks.Mutex) chan *locks.Lease {
	t.Helper()
	got := make(chan *locks.Lease, 1)
	ctx := scene.Deadline(t)
	go func() {
		lease, err := mutex.Lock(ctx)
		if err != nil {
			t.Errorf("a lock that is waited for: %v", err)
		}
		got <- lease
	}()
	return got
}

// TestQueueMoves: the pages show a queue, and its changes, without being loaded again.
func TestQueueMoves(t *testing.T) {
	h := serve(t)
	all, one := open(t, h.page("")), open(t, h.page("/app/orders"))
	all.until("nobody locks, and it says what to do", `document.querySelector("#locks-empty").textContent.includes("-demo")`)
	one.until("nobody holds", `document.querySelector("#sentence").textContent.startsWith("Nobody holds this lock, and nobody waits")`)
	for _, p := range []*tab{all, one} {
		ask[bool](p, "window.loadedOnce = true")
	}

	first := scene.Locked(t, h.client.Mutex("/app/orders", locks.WithLabel("first")).Lock)
	one.until("the first holds", `%s === "first"`, holder)
	one.until("with its token", `document.querySelector("#token").textContent === %q`, first.Token().String())
	all.until("the first holds", `/^\/app\/ordersexclusive\|● held\|first\|\d+ s\|%s\|\|/.test(%s)`, first.Token(), cells("/app/orders"))

	granted := request(t, h.client.Mutex("/app/orders", locks.WithLabel("second")))
	one.until("the second waits", `%s === "second"`, waiters)
	all.until("one waits", `%s.split("|")[5] === "1"`, cells("/app/orders"))
	all.until("it is among the longest waits", `document.querySelector("#wait-rows").textContent.startsWith("second/app/orders")`)

	scene.GiveBack(t, first)
	second := <-granted
	one.until("the second holds", `%s === "second" && %s === ""`, holder, waiters)
	all.until("the second holds", `%s.includes("|second|")`, cells("/app/orders"))
	scene.GiveBack(t, second)
	one.until("nobody holds", `document.querySelector("#state").dataset.state === "free"`)
	all.until("nobody holds", `%s.includes("○ free||||")`, cells("/app/orders"))

	// The history, the newest first: both came, held, and ended.
	one.until("the history is whole", `[...document.querySelectorAll("#event-rows tr")].map((tr) => tr.dataset.what + " " + tr.querySelector("bdi").textContent).join() ===
		"ended second,holds second,ended first,came second,holds first"`)
	all.until("the same is told of all locks", `document.querySelectorAll("#event-rows li").length === 5`)
	one.until("it is on the time line", `[...document.querySelectorAll(".bar")].map((bar) => bar.textContent).join() === "first,second"`)
	one.until("a screen reader hears how it ended", `document.querySelector("#news").textContent === "Nobody holds the lock"`)
	for _, p := range []*tab{all, one} {
		require.True(t, ask[bool](p, "window.loadedOnce === true"))
	}
}

// TestDeadlockIsMarked: in the head of the page, at both locks, and on their own pages.
func TestDeadlockIsMarked(t *testing.T) {
	h := serve(t)
	ctx := scene.Deadline(t)
	x := scene.Locked(t, h.client.Mutex("/bank/x", locks.WithLabel("Ann")).Lock)
	y := scene.Locked(t, h.client.Mutex("/bank/y", locks.WithLabel("Bob")).Lock)
	all, one := open(t, h.page("")), open(t, h.page("/bank/x"))
	all.until("all is well", `document.querySelector("#deadlock-note").textContent === "none" && document.querySelector("#deadlocks").hidden`)
	granted := make(chan *locks.Lease, 2)
	for _, wait := range []func() (*locks.Lease, error){
		func() (*locks.Lease, error) {
			return h.client.Mutex("/bank/y", locks.WithLabel("Ann")).Lock(x.Context())
		},
		func() (*locks.Lease, error) {
			return h.client.Mutex("/bank/x", locks.WithLabel("Bob")).Lock(y.Context())
		},
	} {
		go func() {
			lease, err := wait()
			if err != nil { // it ends with the lease within which it is asked for
				lease = nil
			}
			granted <- lease
		}()
	}
	for _, path := range []string{"/bank/x", "/bank/y"} {
		all.until("it is marked", `%s.includes("▲ deadlock")`, cells(path))
	}
	all.until("it is told in words", `!document.querySelector("#deadlocks").hidden &&
		[...document.querySelectorAll("#deadlock-list li li")].map((li) => li.textContent).sort().join("; ") ===
		"Ann holds /bank/x and waits for /bank/y; Bob holds /bank/y and waits for /bank/x"`)
	one.until("it is marked", `document.querySelector("#state").dataset.state === "deadlock" && !document.querySelector("#deadlocks").hidden`)
	one.until("the holder and the waiter are, too", `document.querySelectorAll('#holder-rows [data-state="deadlock"], #waiter-rows [data-state="deadlock"]').length === 2`)

	scene.GiveBack(t, x)
	all.until("it is over", `document.querySelector("#deadlocks").hidden && !document.querySelector('#lock-rows [data-state="deadlock"]')`)
	scene.GiveBack(t, y)
	for range 2 {
		if lease := <-granted; lease != nil {
			_ = lease.Unlock(ctx)
		}
	}
}

// TestLineIsLaidOutAnew: a stream that begins again draws the same time line, and not each bar beside itself.
func TestLineIsLaidOutAnew(t *testing.T) {
	h := serve(t)
	lease := scene.Locked(t, h.client.Mutex("/app/lock", locks.WithLabel("holder")).Lock)
	p := open(t, h.page("/app/lock"))
	p.until("it is drawn", `document.querySelectorAll(".bar").length === 1`)
	ask[bool](p, `document.querySelector(".bar").kept = true`)
	p.do(chromedp.SendKeys(chromedp.CSS("#find"), "nobody"))
	p.until("the stream has begun again", `document.querySelectorAll(".bar").length === 1 && !document.querySelector(".bar").kept`)
	require.Equal(t, "0", ask[string](p, `document.querySelector(".bar").dataset.track`))
	require.True(t, ask[bool](p, `document.querySelector(".track").dataset.tracks === undefined`))
	scene.GiveBack(t, lease)
}
