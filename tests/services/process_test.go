package services

import (
	"bufio"
	"context"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
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
func beSubject(text string) {
	var mu sync.Mutex
	say := func(line string) {
		mu.Lock()
		defer mu.Unlock()
		fmt.Println(said + line)
	}
	var o order
	if err := json.Unmarshal([]byte(text), &o); err != nil {
		say(err.Error())
		return
	}
	ctx := context.Background()
	client, err := locks.Open(ctx, o.Connect, locks.WithSessionTimeout(o.Timeout))
	if err != nil {
		say(err.Error())
		return
	}
	end := make(chan struct{})
	go func() {
		_, _ = bufio.NewReader(os.Stdin).ReadString('\n')
		close(end)
	}()
	scripts[o.Ability](ctx, client, o, say, end)
	say(over)
	_ = client.Close(ctx)
}

// elsewhere starts a script in a process.
func elsewhere(t *testing.T, o order) (*subject, *child.Process) {
	t.Helper()
	text, err := json.Marshal(o)
	require.NoError(t, err)
	cmd := exec.Command(os.Args[0], "-test.run=^$")
	cmd.Env = append(os.Environ(), orderVariable+"="+string(text), "GORACE="+os.Getenv("GORACE")+" atexit_sleep_ms=0")
	cmd.Stderr = relists.Child(t, os.Stderr)
	in, err := cmd.StdinPipe()
	require.NoError(t, err)
	out, writer, err := os.Pipe()
	require.NoError(t, err)
	cmd.Stdout = writer
	s := newSubject()
	s.end = func() { _, _ = in.Write([]byte("\n")) } // one that was killed does not hear it
	p, err := child.Start(cmd, func() { _ = writer.Close() })
	require.NoError(t, err)
	listened := make(chan struct{})
	go func() {
		defer close(listened)
		defer out.Close()
		for lines := bufio.NewScanner(out); lines.Scan(); {
			if line, ok := strings.CutPrefix(lines.Text(), said); ok {
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
	return s, p
}
