package dashboard

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/chromedp/cdproto/cdp"
	"github.com/chromedp/cdproto/emulation"
	"github.com/chromedp/cdproto/page"
	"github.com/chromedp/chromedp"
	"github.com/stretchr/testify/require"

	"github.com/turnstile-locks/turnstile/examples/dashboard/demo"
)

// screenshotsVariable names the folder into which the pictures are written; without it they are only looked at.
const screenshotsVariable = "TURNSTILE_SCREENSHOTS"

// mostBytes bounds a picture that is kept.
const mostBytes = 150 << 10

// TestScreenshots takes pictures of the demo's pages at the widths of a phone and of a desk, light and dark, alone and
// with a crowd. Nothing in them is wider than the page.
func TestScreenshots(t *testing.T) {
	for _, scene := range []struct {
		name  string
		crowd int
		lock  string
		ready string // when there is something to see
		all   string // and on the page of all locks
	}{
		{"", 0, "/shop/orders/42", `document.querySelectorAll("#event-rows tr").length >= 25`,
			`!document.querySelector("#deadlocks").hidden`},
		{"crowd-", 10_000, "/tickets/counter", `document.querySelectorAll("#event-rows tr").length >= 4 && Number(document.querySelector("#waiting").textContent.replace(/\D/g, "")) >= 9000`, "true"},
	} {
		t.Run(fmt.Sprint(scene.crowd), func(t *testing.T) {
			if scene.crowd > 0 && testing.Short() {
				t.Skip("a crowd takes a while")
			}
			people, err := demo.Start(scene.crowd)
			require.NoError(t, err)
			t.Cleanup(people.Close)
			h := serveAt(t, people.Servers())
			lock := open(t, h.page(scene.lock))
			lock.until("the lock has a history", "%s", scene.ready)
			all := open(t, h.page(""))
			all.until("all locks are there", `document.querySelectorAll("#lock-rows tr:not(.folder)").length >= 9 && document.querySelectorAll(".bar").length > 12 && (%s)`, scene.all)
			for _, look := range []struct {
				name  string
				width int64
				dark  bool
			}{{"phone-light", 390, false}, {"phone-dark", 390, true}, {"desk-light", 1440, false}, {"desk-dark", 1440, true}} {
				all.picture(scene.name+"locks-"+look.name, look.width, look.dark, "body")
				lock.picture(scene.name+"lock-"+look.name, look.width, look.dark, "body")
				if scene.crowd == 0 {
					all.picture("session-"+look.name, look.width, look.dark, "#session-rows")
				}
			}
		})
	}
}

// picture takes a picture of the page from an element on, and writes it where that is wanted.
func (p *tab) picture(name string, width int64, dark bool, from string) {
	p.t.Helper()
	scheme, height := "light", int64(1000)
	if dark {
		scheme = "dark"
	}
	if width < 500 {
		height = 1500
	}
	p.do(chromedp.EmulateViewport(width, height), chromedp.Func(func(ctx context.Context, t *chromedp.Target) error {
		if _, err := cdp.Call(ctx, t, page.BringToFront, cdp.Empty{}); err != nil {
			return err
		}
		_, err := cdp.Call(ctx, t, emulation.SetEmulatedMedia, emulation.SetEmulatedMediaParams{
			Features: []*emulation.MediaFeature{{Name: "prefers-color-scheme", Value: scheme}}})
		return err
	}))
	p.until("it is shown so", `innerWidth === %d && matchMedia("(prefers-color-scheme: %s)").matches && document.body.offsetWidth <= %[1]d`, width, scheme)
	require.LessOrEqual(p.t, ask[int64](p, "document.documentElement.scrollWidth"), width, "%s: wider than the page", name)
	require.True(p.t, ask[bool](p, `((document.querySelector(%q).closest("section") ?? document.body).scrollIntoView(), true)`, from))
	shot, err := chromedp.Run(p.ctx, chromedp.CaptureScreenshot())
	require.NoError(p.t, err)
	require.NotEmpty(p.t, shot)
	folder := os.Getenv(screenshotsVariable)
	few := strings.HasPrefix(name, "crowd-") || strings.HasPrefix(name, "session-")
	if folder == "" || few && (width < 500) != dark { // two looks of these are enough
		return
	}
	small := compress(p.t, shot) // which takes seconds
	require.LessOrEqual(p.t, len(small), mostBytes, name)
	if !filepath.IsAbs(folder) {
		folder = filepath.Join("..", "..", folder) // as it was typed at the root of the repository
	}
	require.NoError(p.t, os.WriteFile(filepath.Join(folder, name+".png"), small, 0o644))
}
