package scene

import (
	"bufio"
	"fmt"
	"os"
	"os/exec"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/turnstile-locks/turnstile/tests/rig"
)

// saidPrefix tells what a process says to the test that started it from what its test framework prints.
const saidPrefix = "said: "

// Say says something to the test that started this process.
func Say(words ...any) { fmt.Print(saidPrefix, fmt.Sprintln(words...)) }

// AwaitGoOn waits for the line that Process.GoOn sends to this process.
func AwaitGoOn(t *testing.T) {
	t.Helper()
	_, err := bufio.NewReader(os.Stdin).ReadString('\n')
	require.NoError(t, err)
}

// Process is another process of this test binary, which carries out one test and says how that goes. It is killed with
// the test that started it.
type Process struct{ *rig.Talker }

// StartProcess starts a process that carries out one test, by its name, with a variable in its environment.
func StartProcess(t testing.TB, test, variable, value string) *Process {
	t.Helper()
	cmd := exec.Command(os.Args[0], "-test.run", "^"+test+"$")
	cmd.Env = append(os.Environ(), variable+"="+value,
		// The race detector keeps a process that ends for a second otherwise.
		"GORACE="+os.Getenv("GORACE")+" atexit_sleep_ms=0")
	cmd.Stderr = ErrorOutput(t, os.Stderr)
	p, err := rig.Talk(cmd)
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, p.Kill()) })
	return &Process{p}
}

// Hear waits for the next text that the process says.
func (p *Process) Hear(t testing.TB) string {
	t.Helper()
	for late := time.After(Bound); ; {
		select {
		case line, open := <-p.Says:
			require.True(t, open, "the process has ended without a word")
			if text, ok := strings.CutPrefix(line, saidPrefix); ok {
				return text
			}
		case <-late:
			t.Fatal("the process says nothing")
		}
	}
}

// GoOn lets a process go on that waits in AwaitGoOn.
func (p *Process) GoOn(t testing.TB) {
	t.Helper()
	require.NoError(t, p.Tell("go on"))
}
