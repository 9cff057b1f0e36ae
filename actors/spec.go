package actors

import (
	"os"
	"path"
	"strings"
	"sync"
	"time"

	"github.com/google/uuid"

	"github.com/turnstile-locks/turnstile/actors/queue"
	"github.com/turnstile-locks/turnstile/messages"
)

// spec is what a lock actor wants, as the session needs to know it. It never changes.
type spec struct {
	path  string // the parent of our node: the lock path, but for a contest
	style queue.Style
	// guid finds our node when a create's reply was lost (ZOOKEEPER-1262). It is part of the node's name; in a
	// contest, of its data.
	guid     string
	node     string // a contest's one node, whoever makes it
	want     *messages.Acquire
	since    time.Time // when it was asked for
	permits  int       // of a semaphore
	watchAll bool
	owner    string // two requests of one owner do not wait for each other
	by       string // the address of who asks
	child    bool   // somebody else than the lock actor itself asks
	sticky   time.Duration
	reentry  bool
}

// newSpec makes the spec of a request that CheckAcquire has found good. by is the actor that asks.
// child tells whether that is the lock actor's parent, and not itself.
func newSpec(want *messages.Acquire, by string, child bool) *spec {
	sp := &spec{
		path:     want.Path,
		style:    queue.Style{Naming: want.Naming, Mode: want.Mode, Name: want.Name},
		guid:     uuid.NewString(),
		watchAll: want.WatchAll,
		owner:    want.Owner,
		reentry:  want.Reentry,
		by:       by,
		want:     want,
		since:    time.Now(),
		child:    child,
		sticky:   want.Sticky,
	}
	if sp.owner == "" {
		sp.owner = by
	}
	switch want.Mode {
	case messages.Semaphore:
		sp.permits, sp.style.Weight = want.Permits, max(want.Weight, 1)
	case messages.Contest:
		sp.path, sp.node = path.Split(want.Path)
		sp.path = strings.TrimSuffix(sp.path, "/")
	}
	if want.Naming == messages.KazooNaming {
		sp.guid = strings.ReplaceAll(sp.guid, "-", "") // as Python's uuid4().hex
	}
	return sp
}

// contest tells whether there is one node for all contenders, and no queue.
func (sp *spec) contest() bool { return sp.node != "" }

// queue is one of the queues of a lock path.
type queueKey struct{ path, name string }

func (sp *spec) queue() queueKey { return queueKey{sp.path, sp.style.Name} }

// at gives the path of a node of the request.
func (sp *spec) at(node string) string { return sp.path + "/" + node }

// hostname is asked for once: it is written into every node.
var hostname = sync.OnceValue(func() string {
	host, err := os.Hostname()
	if err != nil {
		return "unknown"
	}
	return host
})
