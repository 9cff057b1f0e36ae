package rig

import (
	"bufio"
	"fmt"
	"os"
	"os/exec"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

// parentVariable has this test binary start a process, say its number, and wait to be killed.
const parentVariable = "TURNSTILE_TEST_IS_PARENT"

func beParent(program string) error {
	p, err := StartProcess(exec.Command(program, "1000"), nil)
	if err != nil {
		return err
	}
	fmt.Println(p.Pid())
	<-p.Exited()
	return p.Err()
}

func init() { Ordered(parentVariable, beParent) }

func TestAProcessDiesWithItsParent(t *testing.T) {
	parent, err := Again(parentVariable, "sleep")
	require.NoError(t, err)
	output, err := parent.StdoutPipe()
	require.NoError(t, err)
	require.NoError(t, parent.Start())
	pid, err := bufio.NewReader(output).ReadString('\n')
	require.NoError(t, err)
	require.NoError(t, parent.Process.Kill())
	_ = parent.Wait() // says that it was killed
	require.Eventually(t, func() bool {
		stat, err := os.ReadFile(fmt.Sprintf("/proc/%s/stat", strings.TrimSpace(pid)))
		// Where nobody reaps orphans, a zombie stays.
		return err != nil || strings.Contains(string(stat), ") Z ")
	}, time.Minute, 10*time.Millisecond)
}
