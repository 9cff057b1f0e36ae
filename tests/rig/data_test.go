package rig

import (
	"bytes"
	"os"
	"path/filepath"
	"testing"

	"github.com/go-zookeeper/zk"
	"github.com/stretchr/testify/require"
)

// The log of a server that runs can be copied, and has the data of a node that was made before.
func TestCopyTransactionLog(t *testing.T) {
	t.Parallel()
	server := StartStandalone(t)
	conn := connect(t, server.Addr())
	_, err := conn.Create("/logged", []byte("found in the log"), 0, zk.WorldACL(zk.PermAll))
	require.NoError(t, err)
	to := filepath.Join(t.TempDir(), "log")
	require.NoError(t, server.CopyTransactionLog(to))
	logs, err := filepath.Glob(filepath.Join(to, "log.*"))
	require.NoError(t, err)
	require.Len(t, logs, 1)
	data, err := os.ReadFile(logs[0])
	require.NoError(t, err)
	require.True(t, bytes.Contains(data, []byte("found in the log")))
}
