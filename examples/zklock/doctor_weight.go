package main

import (
	"cmp"
	"context"
	"path"
	"slices"
	"strings"
	"time"

	"github.com/turnstile-locks/turnstile/actors/queue"
)

const (
	// maxDump bounds the part of a server's list of ephemeral nodes that is read, in bytes.
	maxDump = 64 << 20
	// heavy and tooHeavy bound the weight of one session's ephemeral nodes, in bytes: by Turnstile's own bound, and by
	// the servers' jute.maxbuffer, as both are unless told otherwise.
	heavy, tooHeavy = 512 << 10, 1 << 20
	// pathOverhead is the size of a path beyond its characters in the transaction that ends a session, in bytes.
	pathOverhead = 4
)

// load is the size of the transaction that ends a session: it names all of its ephemeral nodes.
type load struct {
	session       string
	nodes, weight int // weight in bytes
}

// add counts a node, by its path at the servers.
func (l *load) add(path string) { l.nodes, l.weight = l.nodes+1, l.weight+pathOverhead+len(path) }

// compareLoads puts the heaviest first.
func compareLoads(a, b load) int {
	return cmp.Or(cmp.Compare(b.weight, a.weight), strings.Compare(a.session, b.session))
}

// lookAtDumps asks each server for its sessions and their ephemeral nodes. All servers should know
// the same; the weights are taken from the first answer.
func (e *examination) lookAtDumps(ctx context.Context) {
	for _, address := range e.addresses {
		answer, err := e.word(ctx, address, "dump", maxDump)
		if err != nil || !strings.Contains(answer, dumpedNodes) {
			continue
		}
		d := readDump(answer)
		if !e.weighed {
			e.weighed = true
			e.judgeLoads(d.loads, "")
		}
		if len(d.kept) > 0 && pause(ctx, keptFor) { // a session that ends just now leaves the list before its nodes go
			answer, err := e.word(ctx, address, "dump", maxDump)
			if err != nil {
				continue
			}
			d = d.stillKept(readDump(answer))
		}
		e.judgeKept(address, d)
	}
}

// judgeLoads tells of the sessions that weigh too much, or of the heaviest where none does.
func (e *examination) judgeLoads(all []load, where string) {
	told := 0
	for _, l := range all {
		grade, do := l.judge()
		if told == mostNamed || told > 0 && grade == fine {
			break
		}
		told++
		which := "another session is"
		if told == 1 {
			which = "the heaviest session is"
		}
		e.note(grade, "weight", do, "%s%s %s: %d ephemeral nodes, %d bytes in the transaction that ends it",
			where, which, l.session, l.nodes, l.weight)
	}
	if len(all) == 0 {
		e.note(fine, "weight", "", "%sno session has ephemeral nodes", where)
	}
}

func (l load) judge() (grade, do string) {
	switch {
	case l.weight > tooHeavy:
		return broken, "when it ends, servers with the usual jute.maxbuffer fail, and do not start again " +
			"(ZOOKEEPER-4306); have it give back locks, a few at a time, or raise jute.maxbuffer at every server first"
	case l.weight > heavy:
		return odd, "a client of Turnstile has 512 KiB at most; WithMaxNodeBytes was raised, or it is another library's"
	}
	return fine, ""
}

// dumpedNodes is the line of a dump with which its ephemeral nodes begin.
const dumpedNodes = "Sessions with Ephemerals"

// dump has a server's sessions: alive the ones that it takes to be alive, loads the ones whose
// ephemeral nodes it has.
type dump struct {
	alive map[string]bool
	loads []load // the heaviest first
	// kept are the nodes of contenders, by their paths at the servers, whose sessions are not alive.
	kept []string
}

// readDump reads a server's answer to the word dump. Leaders list sessions by when they expire, followers with
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

// keptFor is the time by which a node must outlast its session before it is reported as kept.
const keptFor = 2 * time.Second

// stillKept gives a later dump, with only those kept nodes that were kept before, too.
func (d dump) stillKept(later dump) dump {
	later.kept = slices.DeleteFunc(slices.Clone(later.kept), func(node string) bool { return !slices.Contains(d.kept, node) })
	return later
}

// judgeKept names contenders that a server has kept beyond the end of their sessions. A dump that
// does not list doctor's own session is in a format that this program does not understand, so
// nothing is judged by it.
func (e *examination) judgeKept(address serverAddress, d dump) {
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
