package embedded

import "fmt"

// Op is the type of a request, by its number on the wire.
type Op int32

// The operations that the server knows, as ZooKeeper's ZooDefs.OpCode numbers them.
const (
	OpNotification         Op = 0
	OpCreate               Op = 1
	OpDelete               Op = 2
	OpExists               Op = 3
	OpGetData              Op = 4
	OpSetData              Op = 5
	OpGetACL               Op = 6
	OpSetACL               Op = 7
	OpGetChildren          Op = 8
	OpSync                 Op = 9
	OpPing                 Op = 11
	OpGetChildren2         Op = 12
	OpCheck                Op = 13
	OpMulti                Op = 14
	OpCreate2              Op = 15
	OpReconfig             Op = 16
	OpCheckWatches         Op = 17
	OpRemoveWatches        Op = 18
	OpCreateContainer      Op = 19
	OpDeleteContainer      Op = 20
	OpCreateTTL            Op = 21
	OpMultiRead            Op = 22
	OpAuth                 Op = 100
	OpSetWatches           Op = 101
	OpSASL                 Op = 102
	OpGetEphemerals        Op = 103
	OpGetAllChildrenNumber Op = 104
	OpSetWatches2          Op = 105
	OpAddWatch             Op = 106
	OpWhoAmI               Op = 107
	OpCreateSession        Op = -10
	OpCloseSession         Op = -11
	opError                Op = -1
)

var opNames = map[Op]string{
	OpCreate: "create", OpDelete: "delete", OpExists: "exists", OpGetData: "getData", OpSetData: "setData",
	OpGetACL: "getACL", OpSetACL: "setACL", OpGetChildren: "getChildren", OpSync: "sync", OpPing: "ping",
	OpGetChildren2: "getChildren2", OpCheck: "check", OpMulti: "multi", OpCreate2: "create2",
	OpReconfig: "reconfig", OpCheckWatches: "checkWatches", OpRemoveWatches: "removeWatches",
	OpCreateContainer: "createContainer", OpDeleteContainer: "deleteContainer", OpCreateTTL: "createTTL",
	OpMultiRead: "multiRead", OpAuth: "auth", OpSetWatches: "setWatches", OpSASL: "sasl",
	OpGetEphemerals: "getEphemerals", OpGetAllChildrenNumber: "getAllChildrenNumber",
	OpSetWatches2: "setWatches2", OpAddWatch: "addWatch", OpWhoAmI: "whoAmI",
	OpCreateSession: "createSession", OpCloseSession: "closeSession", opError: "error",
}

// String is the name of the operation as ZooKeeper's documentation writes it.
func (o Op) String() string {
	if name, ok := opNames[o]; ok {
		return name
	}
	return fmt.Sprintf("op(%d)", int32(o))
}

// kind says how a request is carried out.
type kind int

const (
	unknown kind = iota // answered with Unimplemented, and the connection is closed
	reading             // from the replica's own tree
	writing             // by a transaction
)

func (o Op) kind() kind {
	switch o {
	case OpCreate, OpCreate2, OpCreateTTL, OpCreateContainer, OpDelete, OpDeleteContainer, OpSetData,
		OpSetACL, OpMulti, OpReconfig, OpCloseSession, OpCreateSession:
		return writing
	case OpExists, OpGetData, OpGetACL, OpGetChildren, OpGetChildren2, OpGetAllChildrenNumber, OpGetEphemerals,
		OpMultiRead, OpSync, OpPing, OpSetWatches, OpSetWatches2, OpAddWatch, OpRemoveWatches, OpCheckWatches, OpWhoAmI:
		return reading
	default:
		return unknown
	}
}

func (o Op) creates() bool {
	return o == OpCreate || o == OpCreate2 || o == OpCreateTTL || o == OpCreateContainer
}
