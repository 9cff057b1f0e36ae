package rig

import "fmt"

// OpCode is the kind of a request, by its number on the wire.
type OpCode int32

// The kinds of requests. OpAny, which no request has, stands in rules and counts
// for every kind but pings.
const (
	OpAny              OpCode = 0
	OpCreate           OpCode = 1 // in rules and counts, OpCreate2 too
	OpDelete           OpCode = 2
	OpExists           OpCode = 3
	OpGetData          OpCode = 4
	OpSetData          OpCode = 5
	OpGetACL           OpCode = 6
	OpSetACL           OpCode = 7
	OpGetChildren      OpCode = 8
	OpSync             OpCode = 9
	OpPing             OpCode = 11
	OpGetChildren2     OpCode = 12
	OpCheck            OpCode = 13
	OpMulti            OpCode = 14
	OpCreate2          OpCode = 15
	OpReconfig         OpCode = 16
	OpCheckWatches     OpCode = 17
	OpRemoveWatches    OpCode = 18
	OpCreateContainer  OpCode = 19
	OpCreateTTL        OpCode = 21
	OpMultiRead        OpCode = 22
	OpSetAuth          OpCode = 100
	OpSetWatches       OpCode = 101
	OpSASL             OpCode = 102
	OpGetEphemerals    OpCode = 103
	OpGetChildrenCount OpCode = 104
	OpSetWatches2      OpCode = 105
	OpAddWatch         OpCode = 106
	OpCloseSession     OpCode = -11
)

var opNames = map[OpCode]string{
	OpAny: "any", OpCreate: "create", OpDelete: "delete", OpExists: "exists",
	OpGetData: "getData", OpSetData: "setData", OpGetACL: "getACL", OpSetACL: "setACL",
	OpGetChildren: "getChildren", OpSync: "sync", OpPing: "ping",
	OpGetChildren2: "getChildren2", OpCheck: "check", OpMulti: "multi",
	OpCreate2: "create2", OpReconfig: "reconfig", OpCheckWatches: "checkWatches",
	OpRemoveWatches: "removeWatches", OpCreateContainer: "createContainer",
	OpCreateTTL: "createTTL", OpMultiRead: "multiRead", OpSetAuth: "setAuth",
	OpSetWatches: "setWatches", OpSASL: "sasl", OpGetEphemerals: "getEphemerals",
	OpGetChildrenCount: "getAllChildrenNumber", OpSetWatches2: "setWatches2",
	OpAddWatch: "addWatch", OpCloseSession: "closeSession",
}

// String returns the name that ZooKeeper's documentation uses.
func (o OpCode) String() string {
	if name, ok := opNames[o]; ok {
		return name
	}
	return fmt.Sprintf("op(%d)", int32(o))
}

// covers reports whether a rule or a count for o is about requests of kind other.
func (o OpCode) covers(other OpCode) bool {
	switch o {
	case other:
		return true
	case OpAny:
		return other != OpPing
	case OpCreate:
		return other == OpCreate2
	}
	return false
}

// startsWithPath reports whether the request's body begins with a path.
func (o OpCode) startsWithPath() bool {
	switch o {
	case OpPing, OpSetAuth, OpSetWatches, OpSetWatches2, OpCloseSession, OpReconfig, OpMulti, OpMultiRead:
		return false
	}
	return true
}
