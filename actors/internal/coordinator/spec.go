package coordinator

import (
	"fmt"
	"path"
	"strconv"
	"strings"
	"time"

	"github.com/turnstile-locks/turnstile/actors/queue"
	"github.com/turnstile-locks/turnstile/messages"
)

// Spec describes a lock request. It never changes.
type Spec struct {
	// Want has the options that were asked for; the shell writes some of them into the node.
	Want *messages.Acquire
	// Path is the parent of the node: the lock path, but for a contest.
	Path  string
	Style queue.Style
	// GUID finds the node when the reply to its create was lost (ZOOKEEPER-1262). It is part of the node's name; in a
	// contest, of its data.
	GUID string
	// One is the name of a contest's node, in all sessions; empty for locks with a queue.
	One string
	// Permits is the number of permits that the semaphore should have; 0 for other locks.
	Permits int
	// By is the address of the actor that asks.
	By string
	// Requester is the node that asks over a gateway; empty where it is this one.
	Requester string
	// Since is the time of the request.
	Since time.Time
	// Size is the weight of its node, without the chroot. A contest has two nodes.
	Size int
}

// NewSpec makes the spec of a request that was found good. guid is a new UUID, by the address of the actor that asks.
func NewSpec(want *messages.Acquire, guid, by string, since time.Time) *Spec {
	sp := &Spec{
		Want: want, Path: want.Path, GUID: guid, By: by, Since: since,
		Style: queue.Style{Naming: want.Naming, Mode: want.Mode, Name: want.Name},
	}
	switch want.Mode {
	case messages.Semaphore:
		sp.Permits, sp.Style.Weight = want.Permits, max(want.Weight, 1)
	case messages.Contest:
		sp.Path, sp.One = path.Split(want.Path)
		sp.Path = strings.TrimSuffix(sp.Path, "/")
	}
	if want.Naming == messages.KazooNaming {
		sp.GUID = strings.ReplaceAll(sp.GUID, "-", "") // as Python's uuid4().hex
	}
	if want.Reclaim != "" {
		sp.GUID = queue.Reclaimable + sp.GUID
	}
	if sp.Size = WeightOf(sp.At(sp.Style.Prefix(sp.GUID))) + sequenceDigits; sp.One != "" {
		sp.Size = WeightOf(sp.At(sp.One)) + WeightOf(sp.At(sp.guard(0)))
	}
	return sp
}

// At gives the path of a node of the request.
func (sp *Spec) At(node string) string { return sp.Path + "/" + node }

// nameAt gives the name of a node of the request at the number of another node.
func (sp *Spec) nameAt(number int32) string {
	return sp.Style.Prefix(sp.GUID) + fmt.Sprintf("%0*d", sequenceDigits, number)
}

// guard gives the name of the guard that a create of a contest's node makes: see kinds.go. op is the
// operation of the create, and each create of a request has its own.
func (sp *Spec) guard(op uint64) string { return queue.GuardName(sp.One, sp.GUID, op) }

// exclusive reports whether its holder is alone, and it has a queue.
func (sp *Spec) exclusive() bool { return sp.Style.Mode == messages.Exclusive }

// number gives the sequence number of the request's node. The node of a contest has no number, and
// counts as 0.
func (sp *Spec) number(name string) (int32, bool) {
	if sp.One != "" {
		return 0, true
	}
	n, err := strconv.ParseInt(strings.TrimPrefix(name, sp.Style.Prefix(sp.GUID)), 10, 32)
	return int32(n), err == nil
}

const (
	// pathOverhead is the size of a path's length field, in bytes.
	pathOverhead = 4
	// sequenceDigits is the number of digits that servers put behind a contender's name.
	sequenceDigits = 10
)

// WeightOf gives the weight of an ephemeral node, by its path at the servers.
func WeightOf(path string) int { return pathOverhead + len(path) }
