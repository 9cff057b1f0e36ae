package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/signal"
	"strings"
	"sync"
	"time"

	"github.com/spf13/cobra"
	"golang.org/x/term"

	"github.com/turnstile-locks/turnstile/locks"
)

// screen is a live view: the whole terminal, drawn anew when something changes and every second. However it ends but by
// SIGKILL, the terminal is as it was before.
type screen struct {
	in, out int
	state   *term.State
	keys    chan byte
}

// watchable refuses --watch where there is no terminal.
func watchable(cmd *cobra.Command, json bool) error {
	if json || term.IsTerminal(int(os.Stdin.Fd())) && term.IsTerminal(int(os.Stdout.Fd())) {
		return nil
	}
	return badUse(withFlag(cmd, "--watch --json"), "%s: --watch draws on a terminal, and this is not one", cmd.Name())
}

// openScreen takes the terminal: another screen, no cursor, keys one by one.
func openScreen() (*screen, error) {
	s := &screen{in: int(os.Stdin.Fd()), out: int(os.Stdout.Fd()), keys: make(chan byte, 16)}
	state, err := term.MakeRaw(s.in)
	if err != nil {
		return nil, fmt.Errorf("the terminal: %w", err)
	}
	s.state = state
	fmt.Print("\x1b[?1049h\x1b[?25l")
	go func() { // it ends with the program
		for buffer := make([]byte, 1); ; {
			if n, err := os.Stdin.Read(buffer); err != nil || n == 0 {
				close(s.keys)
				return
			}
			s.keys <- buffer[0]
		}
	}()
	return s, nil
}

// close gives the terminal back.
func (s *screen) close() {
	fmt.Print("\x1b[?25h\x1b[?1049l")
	_ = term.Restore(s.in, s.state)
}

// draw shows lines, as many as there is room for, and in the last line what there is to press.
func (s *screen) draw(lines []string) {
	width, height, err := term.GetSize(s.out)
	if err != nil || width < 1 || height < 2 {
		width, height = 80, 24
	}
	foot := "q quits"
	if more := len(lines) - (height - 2); more > 0 {
		lines = lines[:height-2]
		foot = fmt.Sprintf("%d more below · %s", more, foot)
	}
	var b strings.Builder
	b.WriteString("\x1b[H")
	for _, line := range lines { // wiped first: at the end of a full line the cursor stands on its last character
		b.WriteString("\x1b[K" + cut(printable(line), width) + "\r\n")
	}
	b.WriteString("\x1b[J")
	fmt.Fprintf(&b, "\x1b[%d;1H\x1b[K%s", height, cut(foot, width-1))
	fmt.Print(b.String())
}

// show draws what lines gives, whenever changed says so and every second, until somebody quits or ctx ends. changed
// may be closed.
func (s *screen) show(ctx context.Context, changed <-chan struct{}, lines func(width int) []string) error {
	tick := time.NewTicker(time.Second)
	defer tick.Stop()
	resized := make(chan os.Signal, 1)
	notifyResize(resized)
	defer signal.Stop(resized)
	for {
		width, _, err := term.GetSize(s.out)
		if err != nil {
			width = 80
		}
		s.draw(lines(width))
		select {
		case <-ctx.Done():
			return context.Cause(ctx)
		case key, ok := <-s.keys:
			switch {
			case !ok, key == 'q', key == 'Q', key == 3, key == 4: // Ctrl-C, Ctrl-D
				return nil
			}
		case _, ok := <-changed:
			if !ok {
				return nil
			}
		case <-resized:
		case <-tick.C:
		}
	}
}

// watch shows the newest of some values on the whole terminal until there are no more, or somebody quits, and gives the
// one that it has shown last. Before the first there is only a heading.
func watch[V any](ctx context.Context, client *locks.Client, heading string, values <-chan *V,
	lines func(v *V, now time.Time, width int) []string) (*V, error) {
	s, err := openScreen()
	if err != nil {
		return nil, err
	}
	defer s.close()
	var mu sync.Mutex
	var newest *V
	changed := make(chan struct{})
	go func() {
		defer close(changed)
		for v := range values {
			mu.Lock()
			newest = v
			mu.Unlock()
			select {
			case changed <- struct{}{}:
			case <-ctx.Done():
				return
			}
		}
	}()
	err = s.show(ctx, changed, func(width int) []string {
		mu.Lock()
		defer mu.Unlock()
		if now := time.Now(); newest != nil {
			return stamped(client, lines(newest, now, width), now)
		}
		return stamped(client, []string{heading}, time.Now())
	})
	mu.Lock()
	defer mu.Unlock()
	return newest, err
}

// termWidth is the width of tables: the terminal's, or 0, for any width, where the output goes
// elsewhere.
func termWidth() int {
	if width, _, err := term.GetSize(int(os.Stdout.Fd())); err == nil && width > 0 {
		return width
	}
	return 0
}

// stale says that a live view does not show what is, because the servers are not reached; empty where it does.
func stale(client *locks.Client) string {
	fine := errors.New("connected")
	err := client.Session().Explain(fine)
	if errors.Is(err, fine) && err.Error() == fine.Error() {
		return ""
	}
	return "NOT CONNECTED, this is how it was: " + strings.TrimPrefix(short(err), fine.Error()+": ")
}

// stamped adds the time to the first line of a live view, and, where the servers are not reached, a line that says so.
func stamped(client *locks.Client, lines []string, now time.Time) []string {
	lines[0] += now.Format("  (15:04:05)")
	if why := stale(client); why != "" {
		lines = append([]string{why}, lines...)
	}
	return lines
}
