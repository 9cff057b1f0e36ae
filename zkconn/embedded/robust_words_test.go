package embedded_test

import (
	"regexp"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"github.com/turnstile-locks/turnstile/zkconn/embedded"
)

// ask sends a four-letter word and reads the answer to its end.
func ask(t testing.TB, s *embedded.Server, word string) string {
	t.Helper()
	stream := overTCP(t, s)
	_, err := stream.Write([]byte(word))
	require.NoError(t, err)
	return string(awaitEnd(t, stream))
}

// mntr reads the answer to mntr as monitoring tools do: a key, a tab and a value in each line.
func mntr(t testing.TB, s *embedded.Server) map[string]string {
	t.Helper()
	values := map[string]string{}
	for line := range strings.Lines(ask(t, s, "mntr")) {
		key, value, ok := strings.Cut(strings.TrimSuffix(line, "\n"), "\t")
		require.True(t, ok, "%q", line)
		values[key] = value
	}
	return values
}

func TestWords(t *testing.T) {
	s := embedded.Run(t)
	require.Equal(t, "imok", ask(t, s, "ruok"))
	require.Equal(t, "imok", ask(t, s, "ruok\n"), "as a terminal sends it")
	require.Equal(t, "rw", ask(t, s, "isro"))
	for _, word := range []string{"conf", "cons", "dump", "wchs", "wchc", "wchp", "dirs", "hash", "gtmk"} {
		require.Equal(t, word+" is not executed because it is not in the whitelist.\n", ask(t, s, word))
	}
	for _, garbage := range []string{"abcd", "RUOK", "ruo?", "GET /", "\x16\x03\x01\x02\x00", "\x00\x00\x00\x00"} {
		require.Empty(t, ask(t, s, garbage), "%q", garbage)
	}
}

// A word may come in pieces, as every other input.
func TestWordInPieces(t *testing.T) {
	for way, dial := range reaches {
		s := embedded.Run(t)
		stream := dial(t, s)
		for _, letter := range []byte("ruok") {
			_, err := stream.Write([]byte{letter})
			require.NoError(t, err, way)
		}
		require.Equal(t, "imok", string(awaitEnd(t, stream)), way)
	}
}

var summary = regexp.MustCompile(`(?m)\AZookeeper version: \S.*\n` +
	`Latency min/avg/max: (\d+)/(\d+\.\d+)/(\d+)\nReceived: (\d+)\nSent: (\d+)\nConnections: (\d+)\nOutstanding: (\d+)\n` +
	`Zxid: 0x([0-9a-f]+)\nMode: (\w+)\nNode count: (\d+)\n\z`)

func TestServerSummary(t *testing.T) {
	const took = 20 * time.Millisecond // the create, at least
	s := embedded.Run(t, embedded.WithHook(func(r embedded.Request) embedded.Action {
		if r.Op == embedded.OpCreate {
			time.Sleep(took)
		}
		return embedded.Pass
	}))
	c := newRaw(t, overTCP(t, s))
	require.True(t, c.open(patience))
	c.create("/a", plain)
	srvr := summary.FindStringSubmatch(ask(t, s, "srvr"))
	require.NotNil(t, srvr, "srvr is not what clients parse")
	require.Equal(t, []string{"2", "2", "2", "0", "2", "standalone", "6"}, srvr[4:], "received, sent, and so on")
	most, err := strconv.Atoi(srvr[3])
	require.NoError(t, err)
	require.GreaterOrEqual(t, most, int(took.Milliseconds()), "the greatest latency")

	lines := strings.Split(ask(t, s, "stat"), "\n")
	require.Regexp(t, `^Zookeeper version: `, lines[0])
	require.Equal(t, "Clients:", lines[1])
	require.Regexp(t, `^ /127\.0\.0\.1:\d+\[\d+\]\(queued=\d+,recved=\d+,sent=\d+\)$`, lines[2])
	require.Contains(t, lines, "Mode: standalone")
	c.ping()
}

func TestMonitorKeys(t *testing.T) {
	s := embedded.Run(t)
	c := bystander(t, s)
	c.create("/kept", plain)
	values := mntr(t, s)
	for key, want := range map[string]string{"zk_server_state": "standalone", "zk_znode_count": "7",
		"zk_ephemerals_count": "1", "zk_watch_count": "1", "zk_num_alive_connections": "2", "zk_global_sessions": "1",
		"zk_outstanding_requests": "0", "zk_packets_received": "4", "zk_approximate_data_size": "61"} {
		require.Equal(t, want, values[key], key)
	}
	for _, key := range []string{"zk_max_latency", "zk_min_latency", "zk_packets_sent", "zk_approximate_data_size"} {
		_, err := strconv.Atoi(values[key])
		require.NoError(t, err, key)
	}
	_, err := strconv.ParseFloat(values["zk_avg_latency"], 64)
	require.NoError(t, err)
	require.Equal(t, embedded.Version, values["zk_version"])
}

func TestWordsOfAnEnsemble(t *testing.T) {
	s := embedded.Run(t, embedded.WithReplicas(3))
	modes := map[string]int{}
	for _, r := range s.Replicas() {
		modes[askReplica(t, s, r, "srvr")]++
	}
	require.Equal(t, map[string]int{"leader": 1, "follower": 2}, modes)
	require.Equal(t, "2", mntr(t, s)["zk_synced_followers"])

	s.Replica(1).Stop()
	s.Replica(2).Stop()
	require.Equal(t, "imok", ask(t, s, "ruok"), "a server without the others runs")
	require.Contains(t, ask(t, s, "envi"), "zookeeper.version="+embedded.Version)
	for _, word := range []string{"srvr", "stat", "mntr", "isro"} {
		require.Equal(t, "This ZooKeeper instance is not currently serving requests\n", ask(t, s, word))
	}
}

// askReplica gives the mode that a replica names.
func askReplica(t testing.TB, s *embedded.Server, r *embedded.Replica, word string) string {
	t.Helper()
	stream, err := s.Dialer()("tcp", r.Addr(), patience)
	require.NoError(t, err)
	_, err = bounded(t, stream).Write([]byte(word))
	require.NoError(t, err)
	parts := summary.FindStringSubmatch(string(awaitEnd(t, stream)))
	require.NotNil(t, parts)
	return parts[9]
}
