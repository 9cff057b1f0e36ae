package main

import (
	"path"
	"slices"
	"strings"
	"time"

	"github.com/turnstile-locks/turnstile/actors/queue"
)

// dumpedNodes is the line of a dump with which its ephemeral nodes begin.
const dumpedNodes = "Sessions with Ephemerals"

// dump is what a server knows of sessions: those that it takes to be alive, and whose ephemeral nodes it has.
type dump struct {
	alive map[string]bool
	loads []load // the heaviest first
	// kept are the nodes of contenders, by their paths at the servers, whose sessions are not alive.
	kept []string
}

// readDump reads what a server answers to the word dump. Leaders list sessions by when they expire, followers with
// their timeouts: both in lines that begin with a tab and the number.
func readDump(answer string) dump {
	d := dump{alive: map[string]bool{}}
	sessions, nodes, _ := strings.Cut(answer, dumpedNodes)
	for line := range strings.SplitSeq(sessions, "\n") {
		if fields := strings.Fields(line); len(fields) > 0 && strings.HasPrefix(fields[0], "0x") {
			d.alive[fields[0]] = true
		}
	}
	l := load{}
	end := func() {
		if l.nodes > 0 {
			d.loads = append(d.loads, l)
		}
	}
	for line := range strings.SplitSeq(nodes, "\n") {
		switch at, isPath := strings.CutPrefix(line, "\t/"); {
		case isPath:
			l.add("/" + at)
			if _, ok := queue.Parse(path.Base(at)); ok && !d.alive[l.session] {
				d.kept = append(d.kept, "/"+at)
			}
		case strings.HasPrefix(line, "0x"):
			end()
			l = load{session: strings.TrimSuffix(strings.TrimSpace(line), ":")}
		}
	}
	end()
	slices.SortFunc(d.loads, compareLoads)
	return d
}

// keptFor is how long a node must outlast its session until it is said to have been kept.
const keptFor = 2 * time.Second

// stillKept is a later dump with those nodes that were kept before, too.
func (d dump) stillKept(later dump) dump {
	later.kept = slices.DeleteFunc(slices.Clone(later.kept), func(node string) bool { return !slices.Contains(d.kept, node) })
	return later
}

// judgeKept names contenders that a server has kept beyond the end of their sessions. A dump that does not list the
// session of doctor itself is none that this program understands, and says nothing.
func (e *examination) judgeKept(address string, d dump) {
	if !d.alive[e.session] {
		return
	}
	for _, node := range d.kept[:min(len(d.kept), mostNamed)] {
		e.note(broken, "no session", "it is not one member's node only where all members show it (zklock queue --zk with one of "+
			"them): then delete it; otherwise begin that server anew with empty data (ZOOKEEPER-4541)",
			"%s has %s, and not its session: nobody's end deletes it", address, node)
	}
	if more := len(d.kept) - mostNamed; more > 0 {
		e.note(broken, "no session", "see above", "%s has %d more", address, more)
	}
}
