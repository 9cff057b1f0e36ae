package main

import (
	"context"
	"strings"
)

const (
	// maxDump bounds what is read of a server's list of ephemeral nodes, in bytes.
	maxDump = 64 << 20
	// heavy and tooHeavy are what the ephemeral nodes of one session may weigh, in bytes: by Turnstile's own bound, and by
	// the servers' jute.maxbuffer, as both are unless told otherwise.
	heavy, tooHeavy = 512 << 10, 1 << 20
	// pathOverhead is what a path takes besides its characters in the transaction that ends a session, in bytes.
	pathOverhead = 4
)

// lookAtWeight looks how much the end of a session asks of the servers: one transaction names all of its ephemeral nodes.
// Any one server knows them all.
func (e *examination) lookAtWeight(ctx context.Context, servers []string) {
	for _, address := range servers {
		answer, err := e.word(ctx, address, "dump", maxDump)
		if err != nil || !strings.Contains(answer, "Sessions with Ephemerals") {
			continue
		}
		session, nodes, weight := heaviest(answer)
		grade, do := fine, ""
		switch {
		case weight > tooHeavy:
			grade, do = broken, "when it ends, servers with the usual jute.maxbuffer fail, and do not start again "+
				"(ZOOKEEPER-4306); have it give back locks, a few at a time, or raise jute.maxbuffer at every server first"
		case weight > heavy:
			grade, do = odd, "a client of Turnstile has 512 KiB at most; WithMaxNodeBytes was raised, or it is another library's"
		}
		if nodes == 0 {
			e.note(fine, "weight", "", "no session has ephemeral nodes")
			return
		}
		e.note(grade, "weight", do, "the heaviest session is %s: %d ephemeral nodes, %d bytes in the transaction that ends it",
			session, nodes, weight)
		return
	}
	e.note(fine, "weight", "", "not known: dump is not in the servers' 4lw.commands.whitelist")
}

// heaviest finds the session whose ephemeral nodes weigh the most in a server's dump.
func heaviest(dump string) (session string, nodes, weight int) {
	_, dump, _ = strings.Cut(dump, "Sessions with Ephemerals")
	at, n, w := "", 0, 0
	for line := range strings.SplitSeq(dump, "\n") {
		switch path, isPath := strings.CutPrefix(line, "\t/"); {
		case isPath:
			n, w = n+1, w+pathOverhead+len("/")+len(path)
		case strings.HasPrefix(line, "0x"):
			at, n, w = strings.TrimSuffix(line, ":"), 0, 0
		}
		if w > weight {
			session, nodes, weight = at, n, w
		}
	}
	return session, nodes, weight
}
