package main

import (
	"fmt"
	"os"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/turnstile-locks/turnstile/tests/rig"
)

// Servers map the archive of this machine where it exists, and start without it, too.
func TestServersMapTheArchive(t *testing.T) {
	server := rig.StartStandalone(t)
	path, missing := rig.Archive()
	if missing == nil {
		_, missing = os.Stat(path)
	}
	maps, err := os.ReadFile(fmt.Sprintf("/proc/%d/maps", server.PID()))
	require.NoError(t, err)
	require.Equal(t, missing == nil, strings.Contains(string(maps), "/turnstile/zookeeper-"), path)
}
