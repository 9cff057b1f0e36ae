package services

import (
	"bufio"
	"context"
	"fmt"
	"os"
	"strconv"
	"strings"
	"sync"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/turnstile-locks/turnstile/locks"
	"github.com/turnstile-locks/turnstile/tests/child"
	"github.com/turnstile-locks/turnstile/tests/relists"
)

// orderVariable is the environment variable that makes the test binary a script in a process of its own: it holds an
// order.
const orderVariable = "TURNSTILE_SERVICES_ORDER"

// said begins the lines of a script.
const said = "said: "

func number(text string) int64 {
	n, _ := strconv.ParseInt(text, 10, 64)
	return n
}

// beSubject is the main function of such a process: a line on its standard input tells it to end.
func beSubject(o order) error {
	var mu sync.Mutex
	say := func(line string) {
		mu.Lock()
		defer mu.Unlock()
		fmt.Println(said + line)
	}
	ctx := context.Background()
	client, err := locks.Open(ctx, o.Connect, locks.WithSessionTimeout(o.Timeout))
	if err != nil {
		return err
	}
	end := make(chan struct{})
	go func() {
		_, _ = bufio.NewReader(os.Stdin).ReadString('\n')
		close(end)
	}()
	scripts[o.Ability](ctx, client, o, say, end)
	say(over)
	_ = client.Close(ctx)
	return nil
}

// elsewhere starts a script in a process.
func elsewhere(t *testing.T, o order) (*subject, *child.Process) {
	t.Helper()
	cmd, err := child.Again(orderVariable, o)
	require.NoError(t, err)
	cmd.Stderr = relists.Child(t, os.Stderr)
	p, err := child.Talk(cmd)
	require.NoError(t, err)
	s := newSubject()
	s.end = func() { _ = p.Tell("") } // one that was killed does not hear it
	listened := make(chan struct{})
	go func() {
		defer close(listened)
		for text := range p.Says {
			if line, ok := strings.CutPrefix(text, said); ok {
				s.say(line)
			}
		}
	}()
	t.Cleanup(func() {
		s.end()
		if !t.Failed() { // otherwise it may be stopped, or never end
			<-p.Exited()
		}
		require.NoError(t, p.Kill())
		<-listened
	})
	return s, p.Process
}
