package coordinator

import (
	"encoding/binary"
	"encoding/hex"
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
	// ID names the request.
	ID string
	// One is the name of a contest's node, in all sessions; empty for locks with a queue.
	One string
	// Permits is the number of permits that a new lock path is made with; 0 for other locks than semaphores.
	Permits int
	// By is the address of the actor that asks.
	By string
	// Requester is the node that asks over a gateway; empty where it is this one.
	Requester string
	// Since is the time of the request.
	Since time.Time
	// Size is the weight of its node, without the chroot. A contest has two nodes.
	Size   int
	prefix int // the length of its node's name without the number
}

// NewSpec makes the spec of a request that was found good. id is a new UUID, by the address of the actor that asks.
func NewSpec(want *messages.Acquire, id, by string, since time.Time) *Spec {
	sp := &Spec{
		Want: want, Path: want.Path, ID: id, By: by, Since: since,
		Style: queue.Style{Naming: want.Naming, Mode: want.Mode, Name: want.Name},
	}
	switch want.Mode {
	case messages.Semaphore:
		sp.Permits, sp.Style.Weight = want.Permits, max(want.Weight, 1)
	case messages.Contest:
		sp.Path, sp.One = path.Split(want.Path)
		sp.Path = strings.TrimSuffix(sp.Path, "/")
	}
	guid := sp.guid("0000000000000000", &node{}) // all are of one length
	prefix := sp.Style.Prefix(guid)
	sp.prefix = len(prefix)
	if sp.Size = WeightOf(sp.At(prefix)) + sequenceDigits; sp.One != "" {
		sp.Size = WeightOf(sp.At(sp.One)) + WeightOf(sp.At(sp.Guard(guid)))
	}
	return sp
}

// At gives the path of a node of the request.
func (sp *Spec) At(node string) string { return sp.Path + "/" + node }

// nameAt gives the name of a node of the request at the number of another node.
func (sp *Spec) nameAt(guid string, number int32) string {
	return sp.Style.Prefix(guid) + fmt.Sprintf("%0*d", sequenceDigits, number)
}

// Guard gives the name of the guard that an attempt makes with a contest's node: see kinds.go.
func (sp *Spec) Guard(guid string) string { return queue.GuardName(sp.One, guid) }

// guid gives the GUID of an attempt to make a node, which is in the name of the node, or of its guard. It begins with
// the mark of the epoch, so that it tells whose node that is (CURATOR-604). Each name is used for one create: whatever
// a server carries out late is not taken for anything else.
func (sp *Spec) guid(epoch mark, n *node) string {
	guid := string(epoch) + hex.EncodeToString(binary.BigEndian.AppendUint64(nil, uint64(n.attempt)<<48|uint64(n.of)))
	if sp.Want.Naming != messages.KazooNaming || sp.One != "" { // kazoo's is Python's uuid4().hex
		guid = guid[:8] + "-" + guid[8:12] + "-" + guid[12:16] + "-" + guid[16:20] + "-" + guid[20:]
	}
	if sp.Want.Reclaim != "" {
		guid = queue.Reclaimable + guid
	}
	return guid
}

// mark is the 64 random bits of an epoch, in hexadecimal digits.
type mark string

func markOf(bits uint64) mark { return mark(fmt.Sprintf("%016x", bits)) }

// attempt reads the name of a child: the attempt of this epoch that has made it; false where none has.
func (m mark) attempt(child string) (of RequestID, attempt uint16, ours bool) {
	_, rest, found := strings.Cut(strings.ReplaceAll(child, "-", ""), string(m))
	if !found || len(rest) < len(m) {
		return 0, 0, false
	}
	n, err := strconv.ParseUint(rest[:len(m)], 16, 64)
	return RequestID(n & (1<<48 - 1)), uint16(n >> 48), err == nil
}

// exclusive reports whether its holder is alone, and it has a queue.
func (sp *Spec) exclusive() bool { return sp.Style.Mode == messages.Exclusive }

// number gives the sequence number of the request's node. The node of a contest has no number, and
// counts as 0.
func (sp *Spec) number(name string) (int32, bool) {
	if sp.One != "" {
		return 0, true
	}
	n, err := strconv.ParseInt(name[min(len(name), sp.prefix):], 10, 32)
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
