package machine

import (
	"strconv"
	"strings"
)

// Prefix is what the name of a contender node begins with, GUID and all, before the server adds the
// sequence number: _c_<guid>-lock-. Curator's InterProcessMutex and go-zookeeper's Lock read such
// nodes as their own.
func Prefix(guid string) string { return "_c_" + guid + "-lock-" }

// markers end the part of a contender's name that is not the sequence number, one for each client
// library whose queues we may meet: Curator and go-zookeeper; Curator's read/write lock; kazoo; the
// recipe of ZooKeeper's documentation.
var markers = []string{"lock-", "__READ__", "__WRIT__", "__lock__", "__rlock__", "read-", "write-"}

// Sequence gives the sequence number in the name of a contender node. It is false for a name that is
// no contender's: such children are passed over, never fatal.
func Sequence(name string) (int32, bool) {
	for _, marker := range markers {
		at := strings.LastIndex(name, marker)
		if at < 0 || marker[0] != '_' && at > 0 && isLetter(name[at-1]) {
			continue // "padlock-" is nobody's
		}
		digits := name[at+len(marker):]
		if len(digits) < 10 || digits[0] == '+' {
			continue
		}
		if seq, err := strconv.ParseInt(digits, 10, 32); err == nil {
			return int32(seq), true
		}
	}
	return 0, false
}

func isLetter(b byte) bool { return 'a' <= b|0x20 && b|0x20 <= 'z' }

// lastSequence is the first sequence number that is refused. At 2147483647 a 3.8.0 server sticks or
// hands out duplicates, and then two clients hold at once (measured; kazoo 730). The margin is larger
// than any queue.
const lastSequence = 1<<31 - 1<<20

// Exhausted tells whether a sequence number is too near the end of the parent's counter, or beyond
// it, to grant a lock by.
func Exhausted(seq int32) bool { return seq >= lastSequence || seq < 0 }

// Place is where a contender stands in a queue.
type Place struct {
	// Before is how many contenders come before it; the first has none.
	Before int
	// Predecessor is the name of the contender right before it, "" for the first.
	Predecessor string
}

// Find gives the place of the contender named own among the children of a lock path. It is false when
// own is not among them. The children may come in any order.
func Find(children []string, own string) (Place, bool) {
	mine, ok := Sequence(own)
	if !ok {
		return Place{}, false
	}
	var place Place
	var nearest int32
	present := false
	for _, child := range children {
		if child == own {
			present = true
			continue
		}
		seq, ok := Sequence(child)
		if !ok || seq >= mine {
			continue
		}
		if place.Before == 0 || seq > nearest {
			nearest, place.Predecessor = seq, child
		}
		place.Before++
	}
	return place, present
}

// ReadQueue is the event that tells a request what a listing says of it.
func ReadQueue(op uint64, children []string, own string) Event {
	place, ok := Find(children, own)
	return Event{
		Kind: Listed, Op: op,
		Missing:     !ok,
		First:       ok && place.Before == 0,
		Predecessor: place.Predecessor,
		Head:        place.Before == 1,
	}
}
