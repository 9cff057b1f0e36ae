package dashboard

import (
	"testing"

	"github.com/chromedp/chromedp"
	"github.com/stretchr/testify/require"

	"github.com/turnstile-locks/turnstile/examples/dashboard/demo"
)

// TestCrowd: of 10 000 contenders the page shows some, and more when it is asked to; it finds any of them, and follows
// the queue as it moves, without making rows anew that are there.
func TestCrowd(t *testing.T) {
	const size = 10_000
	h := serve(t)
	crowd, err := demo.NewCrowd(h.zk.Addr(), "/tickets", size)
	require.NoError(t, err)
	t.Cleanup(crowd.Close)
	all, p := open(t, h.page("")), open(t, h.page("/tickets"))
	rows := `document.querySelectorAll("#waiter-rows tr").length`
	all.until("all are counted", `%s.split("|")[5] === "9\u202f999"`, cells("/tickets"))
	p.until("all are counted", `document.querySelector("#waiting").textContent === "9\u202f999" && %s === 50`, rows)
	require.Equal(t, "visitor 1", ask[string](p, holder))
	require.Less(t, ask[int64](p, `document.querySelectorAll("*").length`), int64(1000), "elements of the page")
	require.Less(t, ask[int64](all, `document.querySelectorAll("*").length`), int64(1000), "elements of the page")

	ask[bool](p, `document.querySelectorAll("#waiter-rows tr")[10].kept = true`)
	require.NoError(t, crowd.Pass())
	p.until("the next one holds", `%s === "visitor 2"`, holder)
	p.until("all have moved up", `%s === 50 && document.querySelector("#waiter-rows tr").textContent.startsWith("1visitor 3")`, rows)
	require.Equal(t, int64(9), ask[int64](p, `[...document.querySelectorAll("#waiter-rows tr")].findIndex((tr) => tr.kept)`), "the same row, a place further")
	all.until("the page of all locks follows", `%s.includes("|visitor 2|")`, cells("/tickets"))

	p.do(chromedp.Click(chromedp.CSS("#waiters-more")))
	p.until("there are more", `%s === 250 && document.querySelector("#waiter-rows tr:last-child").textContent.startsWith("250visitor 252")`, rows)
	require.Equal(t, int64(9), ask[int64](p, `[...document.querySelectorAll("#waiter-rows tr")].findIndex((tr) => tr.kept)`))
	require.NoError(t, crowd.Pass())
	p.until("it goes on", `%s === "visitor 3" && %s === 250`, holder, rows)

	p.do(chromedp.SendKeys(chromedp.CSS("#find"), "visitor 7777"))
	p.until("it is found, at its place", `%s === 1 && document.querySelector("#waiter-rows tr").textContent.startsWith("7\u202f774visitor 7777")`, rows)
}
