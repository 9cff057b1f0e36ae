package embedded

import (
	"cmp"
	"fmt"
	"runtime"
	"strings"
)

// Version is the version that the server reports to srvr, stat, mntr and envi. It begins with the
// version of ZooKeeper whose answers it gives.
const Version = "3.9.5-turnstile-embedded"

// words are ZooKeeper's four-letter words. Those without an answer here are refused as ZooKeeper refuses
// the ones that its administrator has not allowed.
var words = map[string]func(*Replica) string{
	"ruok": func(*Replica) string { return "imok" },
	"isro": func(*Replica) string { return "rw" },
	"srvr": (*Replica).srvr,
	"stat": (*Replica).stat,
	"mntr": (*Replica).mntr,
	"envi": (*Replica).envi,
	"conf": nil, "cons": nil, "crst": nil, "dirs": nil, "dump": nil, "gtmk": nil, "hash": nil,
	"srst": nil, "stmk": nil, "wchc": nil, "wchp": nil, "wchs": nil,
}

func isWord(word string) bool {
	_, ok := words[word]
	return ok
}

// answerWord answers and has the connection closed.
func (c *conn) answerWord(word string) {
	text := word + " is not executed because it is not in the whitelist.\n"
	c.e.mu.Lock()
	if answer := words[word]; answer != nil {
		text = answer(c.r)
		if !c.r.serves() && word != "ruok" && word != "envi" {
			text = "This ZooKeeper instance is not currently serving requests\n"
		}
	}
	c.e.mu.Unlock()
	_, _ = c.stream.Write([]byte(text))
}

// envi has ZooKeeper's keys (Environment.list). kazoo looks for the version there. Values of Java,
// and private ones, are not available.
func (r *Replica) envi() string {
	const unavailable = "<NA>"
	known := map[string]string{
		"zookeeper.version": Version, "host.name": "localhost", "os.name": runtime.GOOS, "os.arch": runtime.GOARCH,
	}
	var b strings.Builder
	b.WriteString("Environment:\n")
	for _, key := range []string{
		"zookeeper.version", "host.name", "java.version", "java.vendor", "java.home", "java.class.path",
		"java.library.path", "java.io.tmpdir", "java.compiler", "os.name", "os.arch", "os.version", "user.name",
		"user.home", "user.dir", "os.memory.free", "os.memory.max", "os.memory.total",
	} {
		fmt.Fprintf(&b, "%s=%s\n", key, cmp.Or(known[key], unavailable))
	}
	return b.String()
}

func (r *Replica) state() string {
	switch {
	case len(r.e.replicas) == 1:
		return "standalone"
	case r == r.e.leader || r.cut == deposed:
		return "leader"
	default:
		return "follower"
	}
}

func (r *Replica) srvr() string {
	return "Zookeeper version: " + Version + "\n" + r.summary()
}

func (r *Replica) stat() string {
	var b strings.Builder
	fmt.Fprintf(&b, "Zookeeper version: %s\nClients:\n", Version)
	for _, c := range r.conns.items {
		fmt.Fprintf(&b, " /%s[1](queued=0,recved=%d,sent=%d)\n", c.stream.RemoteAddr(), c.received, c.sent)
	}
	return b.String() + "\n" + r.summary()
}

func (r *Replica) summary() string {
	var b strings.Builder
	fmt.Fprintf(&b, "Latency min/avg/max: %d/%v/%d\n", r.latency.least, decimal(r.latency.average()), r.latency.most)
	fmt.Fprintf(&b, "Received: %d\nSent: %d\n", r.received, r.sent)
	fmt.Fprintf(&b, "Connections: %d\nOutstanding: 0\n", r.conns.len())
	fmt.Fprintf(&b, "Zxid: 0x%x\nMode: %s\nNode count: %d\n", r.tree.zxid, r.state(), len(r.tree.nodes))
	return b.String()
}

// decimal writes a number as Java does: with a fraction, if only .0.
func decimal(f float64) string {
	text := fmt.Sprintf("%.4f", f)
	text = strings.TrimRight(text, "0")
	if strings.HasSuffix(text, ".") {
		text += "0"
	}
	return text
}

func (r *Replica) mntr() string {
	ephemerals := 0
	for _, owned := range r.tree.ephemerals {
		ephemerals += owned.len()
	}
	var b strings.Builder
	line := func(key string, value any) { fmt.Fprintf(&b, "zk_%s\t%v\n", key, value) }
	line("version", Version)
	line("server_state", r.state())
	line("avg_latency", decimal(r.latency.average()))
	line("max_latency", r.latency.most)
	line("min_latency", r.latency.least)
	line("packets_received", r.received)
	line("packets_sent", r.sent)
	line("num_alive_connections", r.conns.len())
	line("outstanding_requests", 0)
	line("znode_count", len(r.tree.nodes))
	line("watch_count", r.tree.data.count()+r.tree.children.count())
	line("ephemerals_count", ephemerals)
	line("approximate_data_size", r.tree.bytes)
	line("global_sessions", len(r.e.sessions))
	line("local_sessions", 0)
	if r == r.e.leader && len(r.e.replicas) > 1 {
		followers := len(r.e.candidates()) - 1
		line("followers", followers)
		line("synced_followers", followers)
		line("quorum_size", len(r.e.replicas))
	}
	return b.String()
}
