package embedded_test

import (
	"io"
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	"github.com/turnstile-locks/turnstile/zkconn/embedded"
)

// monitored asks a replica for one of the numbers that the four-letter word mntr gives.
func monitored(t testing.TB, s *embedded.Server, replica int, name string) int {
	t.Helper()
	stream, err := s.Dialer()("tcp", s.Replica(replica).Addr(), patience)
	require.NoError(t, err)
	_, err = stream.Write([]byte("mntr"))
	require.NoError(t, err)
	text, err := io.ReadAll(stream)
	require.NoError(t, err)
	require.NoError(t, stream.Close())
	for line := range strings.Lines(string(text)) {
		if value, ok := strings.CutPrefix(line, "zk_"+name+"\t"); ok {
			n, err := strconv.Atoi(strings.TrimSpace(value))
			require.NoError(t, err)
			return n
		}
	}
	require.FailNow(t, "mntr names no "+name, string(text))
	return 0
}
