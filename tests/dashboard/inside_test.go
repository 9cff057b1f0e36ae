package dashboard

import (
	"context"
	"strings"
	"testing"

	"github.com/chromedp/chromedp"
	"github.com/stretchr/testify/require"

	"github.com/turnstile-locks/turnstile/locks"
	"github.com/turnstile-locks/turnstile/tests/patient"
)

// TestWhoWaitsInsideIsShown: a program that mounts the dashboard sees which of its own requests wait without a node, as
// text, at the widths of a desk and of a phone. Those of another process are not known.
func TestWhoWaitsInsideIsShown(t *testing.T) {
	browser.start(t)
	h := serve(t)
	p := open(t, h.page(""))
	p.until("nobody waits inside", `document.querySelector("#chain-weight").textContent.endsWith("bytes of nodes") && document.querySelector("#inside").hidden`)
	const (
		hostile = `<img src=x onerror="window.hacked=1">`
		path    = `/app/<b>prints</b>`
		rows    = `[...document.querySelectorAll("#inside-rows li")]`
	)
	ctx, giveUp := context.WithCancel(patient.Deadline(t))
	var asked []<-chan patient.Answer
	held := patient.Locked(t, patient.Open(t, h.zk.Addr()).Mutex(path).Lock)
	// Behind it, each client has a node for its cohort.
	for i, client := range []*locks.Client{h.client, h.looking} {
		asked = append(asked, patient.Elsewhere(ctx, client.Mutex(path, locks.WithCohort(100)).Lock))
		patient.Eventually(t, func() bool { return len(patient.QueueOf(t, h.client, path)) == 2+i }, "it has a node")
	}
	asked = append(asked, patient.Elsewhere(ctx, h.client.Mutex(path, locks.WithCohort(100)).Lock))
	mine := h.looking.Mutex(path, locks.WithCohort(100), locks.WithLabel(hostile))
	asked = append(asked, patient.Elsewhere(ctx, mine.Lock))
	p.until("the first is shown", `!document.querySelector("#inside").hidden && %s.length === 1`, rows)
	long := h.looking.Mutex(path, locks.WithCohort(100), locks.WithLabel(strings.Repeat("long", 100)))
	asked = append(asked, patient.Elsewhere(ctx, long.Lock))
	p.until("both are, in the order in which they asked", `%s.map((li) => li.querySelector(".who").textContent.slice(0, 4)).join() === "<img,long"`, rows)
	p.until("how many", `document.querySelector("#inside-note").textContent === "2 without a node"`)
	for _, width := range []int64{1440, 390} {
		p.do(chromedp.EmulateViewport(width, 900))
		p.until("it is as wide", `innerWidth === %d`, width)
		require.LessOrEqual(t, ask[int64](p, "document.documentElement.scrollWidth"), width, "wider than the page")
		require.True(t, ask[bool](p, `[...document.querySelectorAll("#inside-rows li > *")].every((e) => e.offsetWidth > 0 && e.offsetHeight > 0)`), "all of it is seen")
	}
	require.Equal(t, hostile, ask[string](p, rows+`[0].querySelector(".who").title`))
	require.Equal(t, path, ask[string](p, rows+`[0].querySelector("a").textContent`))
	require.Equal(t, h.page(path), ask[string](p, rows+`[0].querySelector("a").href.replaceAll("%%20", "+")`))
	require.Contains(t, ask[string](p, rows+`[0].querySelector(".note").textContent`), "exclusive · in a cohort of up to 100 · by ")
	require.Regexp(t, `^\d+ (s|min \d\d s)$`, ask[string](p, rows+`[0].querySelector(".number").textContent`), "how long it has waited")
	require.True(t, ask[bool](p, `window.hacked === undefined && document.images.length === 1 && !document.querySelector("#inside b")`), "it is text")

	giveUp()
	for _, one := range asked {
		require.ErrorIs(t, patient.Receive(t, one).Err, context.Canceled)
	}
	p.until("nobody waits inside any more", `document.querySelector("#inside").hidden && %s.length === 0`, rows)
	require.NoError(t, held.Unlock(patient.Deadline(t)))
}
