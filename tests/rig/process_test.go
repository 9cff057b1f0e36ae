package rig

import (
	"bytes"
	"os/exec"
	"testing"

	"github.com/stretchr/testify/require"
)

func TestRun(t *testing.T) {
	var out bytes.Buffer
	cmd := exec.Command("sh", "-c", "echo said; exit 3")
	cmd.Stdout = &out
	err := RunProcess(cmd)
	var exit *exec.ExitError
	require.ErrorAs(t, err, &exit)
	require.Equal(t, 3, exit.ExitCode())
	require.Equal(t, "said\n", out.String())
	require.Error(t, RunProcess(exec.Command("no-such-program-anywhere")))
}

// A process that is stopped runs, does nothing until it is let go on, and can be killed.
func TestPauseResumeKill(t *testing.T) {
	cmd := exec.Command("cat")
	in, err := cmd.StdinPipe()
	require.NoError(t, err)
	p, err := StartProcess(cmd, nil)
	require.NoError(t, err)
	require.Positive(t, p.Pid())
	require.NoError(t, p.Pause())
	require.NoError(t, in.Close())
	require.True(t, p.Running(), "it has not read the end of its input")
	require.NoError(t, p.Resume())
	<-p.Exited()
	require.NoError(t, p.Err())

	called := false
	p, err = StartProcess(exec.Command("sleep", "1000"), func() { called = true })
	require.NoError(t, err)
	require.NoError(t, p.Pause())
	require.NoError(t, p.Kill())
	require.False(t, p.Running())
	require.True(t, called)
	require.Error(t, p.Err())
	require.NoError(t, p.Kill(), "again")
	require.Error(t, p.Resume())
}
