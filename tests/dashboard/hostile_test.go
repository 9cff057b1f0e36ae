package dashboard

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/turnstile-locks/turnstile/locks"
	"github.com/turnstile-locks/turnstile/tests/scene"
)

// TestHostileTexts: labels and paths are anybody's text. They are shown as what they are, and nothing in them runs.
func TestHostileTexts(t *testing.T) {
	h := serve(t)
	const (
		label = `<img src=x onerror="window.hacked=1"><script>window.hacked=2</script>'"` + "`${window.hacked=3}\u202eturned"
		path  = `/app/"><svg onload=window.hacked=4>&amp;javascript:window.hacked=5` + "\u202e"
	)
	first := scene.Locked(t, h.client.Mutex(path, locks.WithLabel(label)).Lock)
	granted := request(t, h.client.Mutex(path, locks.WithLabel(label+" waits")))
	for _, address := range []string{h.page(""), h.page(path)} {
		p := open(t, address)
		p.until("the texts are there", `document.body.textContent.includes(%s) && document.body.textContent.includes(%s) && document.body.textContent.includes(%s)`,
			quote(label), quote(label+" waits"), quote(path))
		p.until("the titles are, too, and turn nothing round", `[...document.querySelectorAll("[title]")].some((e) => e.title.includes(%s))`,
			quote(strings.ReplaceAll(label, "\u202e", "·")))
		// They turn no words of the page round.
		require.Empty(t, ask[string](p, `(() => {
			const loose = [document.title, ...[...document.querySelectorAll("[title]")].map((e) => e.title)].filter((text) => text.includes("\u202e"));
			const texts = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT);
			while (texts.nextNode()) {
				const text = texts.currentNode;
				if (text.data.includes("\u202e") && !text.parentElement.closest("bdi")) loose.push(text.parentElement.outerHTML);
			}
			return loose.join("\n");
		})()`))
		require.True(t, ask[bool](p, "window.hacked === undefined"))
		require.Equal(t, int64(1), ask[int64](p, `document.images.length`), "there is no picture but our own")
		require.Equal(t, int64(1), ask[int64](p, `document.scripts.length`))
		// If a script of ours ever wrote markup, the policy would stop it.
		require.Equal(t, "TypeError", ask[string](p, `(() => { try { document.body.innerHTML = "<b>"; return "written"; } catch (e) { return e.name; } })()`))
	}
	all := open(t, h.page(""))
	all.until("the lock has a link", `document.querySelector("#lock-rows a")`)
	require.Equal(t, h.page(path), ask[string](all, `document.querySelector("#lock-rows a").href.replaceAll("%%20", "+")`))
	scene.GiveBack(t, first)
	scene.GiveBack(t, <-granted)
}
