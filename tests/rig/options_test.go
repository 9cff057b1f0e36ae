package rig_test

import (
	"context"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/turnstile-locks/turnstile/tests/rig"
)

// A server's files are where they are to be, and its virtual machine has the flags that were asked for.
func TestFolderAndFlags(t *testing.T) {
	folder := t.TempDir()
	if inMemory := rig.MemoryFolder(); inMemory != "" {
		var err error
		folder, err = os.MkdirTemp(inMemory, "turnstile-rig-test-")
		require.NoError(t, err)
		t.Cleanup(func() { require.NoError(t, os.RemoveAll(folder)) })
	}
	var server *rig.Server
	t.Run("running", func(t *testing.T) {
		server = rig.StartStandalone(t, rig.WithFolder(folder), rig.LongRunning(), rig.WithJVM("-Xmx96m", "-Xms96m"))
		mode, err := server.Address().Mode(context.Background())
		require.NoError(t, err)
		require.Equal(t, "standalone", mode)
		logs, err := filepath.Glob(filepath.Join(folder, "*", "zoo.cfg"))
		require.NoError(t, err)
		require.Len(t, logs, 1)
		config, err := os.ReadFile(logs[0])
		require.NoError(t, err)
		require.Contains(t, string(config), "preAllocSize=65536\n")
		flags, err := exec.Command("ps", "-o", "args=", "-p", strconv.Itoa(server.PID())).Output()
		if err != nil {
			t.Skipf("ps: %v", err)
		}
		require.Regexp(t, `-Xmx128m .*-Xmx2g .*-Xmx96m `, string(flags))
	})
	left, err := os.ReadDir(folder)
	require.NoError(t, err)
	require.Empty(t, left, "what a server that was stopped leaves behind")
}
