package walk

import (
	"fmt"
	"slices"

	"github.com/turnstile-locks/turnstile/actors/queue"
	"github.com/turnstile-locks/turnstile/messages"
)

// nodeID stands for the name of a node: its contender, which has the GUID, the kind of lock, and its sequence
// number. Zero is no node.
type nodeID uint16

// modes are the kinds of lock that a contender may ask for.
var modes = [...]messages.Mode{messages.Exclusive, messages.Read, messages.Write, messages.Contest}

const (
	perMode      = 63
	perContender = perMode * len(modes)
)

func newNodeID(contender int, mode messages.Mode, sequence uint8) nodeID {
	if sequence >= perMode {
		panic("walk: no room for so many nodes")
	}
	return nodeID(contender*perContender + slices.Index(modes[:], mode)*perMode + int(sequence) + 1)
}

func (id nodeID) contender() int      { return int(id-1) / perContender }
func (id nodeID) mode() messages.Mode { return modes[int(id-1)%perContender/perMode] }
func (id nodeID) sequence() uint8     { return uint8(int(id-1) % perMode) }
func (id nodeID) name() string        { return names[id] }

// waitsFor tells whether a contender waits for one that is before it.
func (id nodeID) waitsFor(before nodeID) bool { return queue.WaitsFor(id.mode(), before.mode()) }

// named gives the node of a name.
func named(name string) nodeID { return ids[name] }

var names, ids = func() (names [maxContenders*perContender + 1]string, ids map[string]nodeID) {
	ids = map[string]nodeID{"": 0}
	for c := range maxContenders {
		for _, mode := range modes {
			for seq := range uint8(perMode) {
				id := newNodeID(c, mode, seq)
				names[id] = fmt.Sprintf("%s%010d", prefix(c, mode), seq)
				ids[names[id]] = id
			}
		}
	}
	return names, ids
}()

// prefix is what names begin with. Those of contests are all the same in the code, where nobody reads them; here
// they tell whose the node is.
func prefix(contender int, mode messages.Mode) string {
	if mode == messages.Contest {
		return fmt.Sprintf("contest-%d-", contender+1)
	}
	return queue.Style{Mode: mode}.Prefix(fmt.Sprint(contender + 1))
}
