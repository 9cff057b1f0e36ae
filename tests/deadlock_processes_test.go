package tests

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/turnstile-locks/turnstile/locks"
	"github.com/turnstile-locks/turnstile/tests/child"
)

// pairVariable makes TestPairInAProcess a process of TestProcessesInADeadlock: it holds the server, and the paths of
// the lock to hold and of the one to want then.
const pairVariable = "TURNSTILE_TEST_PAIR"

// TestPairInAProcess is not a test but a process: it locks one path, says so, waits for a line, and locks the other
// within the lease. Then it says how that ended, and gives everything back.
func TestPairInAProcess(t *testing.T) {
	words := strings.Fields(os.Getenv(pairVariable))
	if len(words) == 0 {
		return
	}
	client, err := locks.Open(deadline(t), words[0], locks.WithSessionTimeout(long))
	require.NoError(t, err)
	defer func() { require.NoError(t, client.Close(context.Background())) }()
	outer, err := client.Mutex(words[1]).Lock(deadline(t))
	require.NoError(t, err)
	fmt.Println("said: holds")
	_, err = bufio.NewReader(os.Stdin).ReadString('\n')
	require.NoError(t, err)
	inner, err := client.Mutex(words[2], locks.WithDeadlockDetection("/", often)).Lock(outer.Context())
	switch {
	case errors.Is(err, locks.ErrDeadlock):
		fmt.Println("said: gave up:", err)
	case err != nil:
		fmt.Println("said:", err)
	default:
		fmt.Println("said: has both")
		giveBack(t, inner)
	}
	giveBack(t, outer)
}

// pair is such a process as its test sees it.
type pair struct {
	*child.Process
	in   io.WriteCloser
	said chan string // what it says, a line each; closed with its output
}

func startPair(t *testing.T, connect, first, second string) *pair {
	t.Helper()
	cmd := exec.Command(os.Args[0], "-test.run", "^TestPairInAProcess$")
	cmd.Env = append(os.Environ(), pairVariable+"="+strings.Join([]string{connect, first, second}, " "))
	cmd.Stderr = os.Stderr
	in, err := cmd.StdinPipe()
	require.NoError(t, err)
	out, writer, err := os.Pipe()
	require.NoError(t, err)
	cmd.Stdout = writer
	p := &pair{in: in, said: make(chan string, 10)}
	p.Process, err = child.Start(cmd, func() { _ = writer.Close() })
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, p.Kill()) })
	go func() {
		defer close(p.said)
		defer func() { _ = out.Close() }()
		for lines := bufio.NewScanner(out); lines.Scan(); {
			if text, ok := strings.CutPrefix(lines.Text(), "said: "); ok {
				p.said <- text
			}
		}
	}()
	return p
}

func (p *pair) hear(t *testing.T) string {
	t.Helper()
	select {
	case text := <-p.said:
		return text
	case <-time.After(bound):
		t.Fatal("the process says nothing")
		return ""
	}
}

// TestProcessesInADeadlock: each holds what the other wants. Exactly one gives up, with the names of both, and the
// other gets its lock.
func TestProcessesInADeadlock(t *testing.T) {
	eachServer(t, func(t *testing.T, at *servers) {
		one, two := startPair(t, at.Connect(), "/x", "/y"), startPair(t, at.Connect(), "/y", "/x")
		for _, p := range []*pair{one, two} {
			require.Equal(t, "holds", p.hear(t))
		}
		for _, p := range []*pair{one, two} {
			_, err := p.in.Write([]byte("go on\n"))
			require.NoError(t, err)
		}
		said := []string{one.hear(t), two.hear(t)}
		if said[0] == "has both" {
			said[0], said[1] = said[1], said[0]
		}
		require.True(t, strings.HasPrefix(said[0], "gave up: "), "%v", said)
		require.Equal(t, "has both", said[1])
		for _, p := range []*pair{one, two} {
			require.Contains(t, said[0], fmt.Sprintf("/%d/", p.Pid()))
			<-p.Exited()
			require.NoError(t, p.Err())
		}
		awaitNone(t, at, "/x")
		awaitNone(t, at, "/y")
	})
}
