package dashboard

import (
	"context"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"sync"
	"testing"
	"time"

	"github.com/chromedp/cdproto/runtime"
	"github.com/chromedp/chromedp"
	"github.com/stretchr/testify/require"

	"github.com/turnstile-locks/turnstile/tests/rig"
	"github.com/turnstile-locks/turnstile/tests/scene"
)

// chromium finds the browser.
func chromium() (string, error) {
	for _, name := range []string{"chromium", "chromium-browser", "google-chrome"} {
		if path, err := exec.LookPath(name); err == nil {
			return path, nil
		}
	}
	return "", fmt.Errorf("chromium is not in PATH; on Debian: apt-get install --no-install-recommends chromium")
}

// started is the browser that all tests of this package share, and endBrowser ends it, where it was started.
var (
	started = sync.OnceValues(func() (context.Context, error) {
		options := append(chromedp.DefaultExecAllocatorOptions[:],
			chromedp.DisableGPU, chromedp.Flag("disable-dev-shm-usage", true), chromedp.WSURLReadTimeout(scene.Bound))
		if path, err := chromium(); err == nil {
			options = append(options, chromedp.ExecPath(path))
		}
		if os.Geteuid() == 0 {
			options = append(options, chromedp.NoSandbox)
		}
		allocator, endAllocator := chromedp.NewExecAllocator(context.Background(), options...)
		ctx, end := chromedp.NewContext(allocator)
		endBrowser = func() { end(); endAllocator() }
		return ctx, chromedp.Do(ctx)
	})
	endBrowser = func() {}
)

// browser gives its context. The test is skipped where there is none, or fails where there must be.
func browser(t testing.TB) context.Context {
	t.Helper()
	_, err := chromium()
	rig.SkipUnless(t, err)
	ctx, err := started()
	require.NoError(t, err)
	return ctx
}

// tab is a page in the browser.
type tab struct {
	t   testing.TB
	ctx context.Context

	mu       sync.Mutex
	mistakes []string // what scripts threw, and what the policy stopped
}

// open opens a page. A script of the page that fails makes the test fail.
func open(t testing.TB, url string) *tab {
	t.Helper()
	p := &tab{t: t}
	ctx, end := chromedp.NewContext(browser(t), chromedp.WithListener(func(event any) {
		if thrown, is := event.(*runtime.EventExceptionThrown); is {
			p.mu.Lock()
			defer p.mu.Unlock()
			p.mistakes = append(p.mistakes, describe(thrown.ExceptionDetails))
		}
	}))
	p.ctx = ctx
	t.Cleanup(func() {
		if t.Failed() {
			p.show()
		}
		end()
		p.mu.Lock()
		defer p.mu.Unlock()
		require.Empty(t, p.mistakes, "scripts failed")
	})
	require.NoError(t, chromedp.Do(ctx))
	p.do(chromedp.EmulateViewport(1440, 900), chromedp.Navigate(url))
	return p
}

func describe(e *runtime.ExceptionDetails) string {
	text := fmt.Sprintf("%s, %s:%d", e.Text, e.URL, e.LineNumber+1)
	if e.Exception != nil {
		text += ": " + e.Exception.Description
	}
	return text
}

// do carries out actions.
func (p *tab) do(actions ...chromedp.Action[chromedp.Void]) {
	p.t.Helper()
	ctx, cancel := context.WithTimeout(p.ctx, scene.Bound)
	defer cancel()
	require.NoError(p.t, chromedp.Do(ctx, actions...))
}

// show logs what the page says, for a test that has failed.
func (p *tab) show() {
	ctx, cancel := context.WithTimeout(p.ctx, scene.Bound)
	defer cancel()
	if text, err := chromedp.Run(ctx, chromedp.Evaluate[string]("document.body.innerText")); err == nil {
		p.t.Logf("the page:\n%s", text)
	}
}

// ask evaluates an expression of JavaScript's.
func ask[Answer any](p *tab, expression string, args ...any) Answer {
	p.t.Helper()
	ctx, cancel := context.WithTimeout(p.ctx, scene.Bound)
	defer cancel()
	answer, err := chromedp.Run(ctx, chromedp.Evaluate[Answer](fmt.Sprintf(expression, args...)))
	require.NoError(p.t, err, expression)
	return answer
}

// until waits until an expression is true. The browser's own way to do that needs what the page's policy forbids.
func (p *tab) until(what, expression string, args ...any) {
	p.t.Helper()
	is := func() bool { return ask[bool](p, "Boolean("+expression+")", args...) }
	require.Eventually(p.t, is, scene.Bound, 100*time.Millisecond, "%s: %s", what, fmt.Sprintf(expression, args...))
}

// quote makes a text a literal of JavaScript's.
func quote(text string) string {
	literal, _ := json.Marshal(text)
	return string(literal)
}
