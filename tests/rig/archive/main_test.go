package main

import (
	"os"
	"os/exec"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/turnstile-locks/turnstile/tests/rig"
)

// A server takes its classes from the archive, and nothing else is left of making it.
func TestWrite(t *testing.T) {
	rig.Require(t)
	folder := filepath.Join(t.TempDir(), "cache")
	path := filepath.Join(folder, "servers.jsa")
	require.NoError(t, write(path))
	classPath, err := rig.ClassPath()
	require.NoError(t, err)

	// Without a configuration it ends at once, with the status of a refusal.
	output, _ := exec.Command("java", "-XX:+UseSerialGC", "-XX:SharedArchiveFile="+path, "-Xlog:class+load",
		"-cp", classPath, "org.apache.zookeeper.server.quorum.QuorumPeerMain", filepath.Join(folder, "none.cfg")).CombinedOutput()
	require.Contains(t, string(output), "org.apache.zookeeper.server.quorum.QuorumPeerMain source: shared objects file")

	left, err := os.ReadDir(folder)
	require.NoError(t, err)
	require.Len(t, left, 1)
}
