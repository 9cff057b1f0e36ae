package embedded

// code is the result of a request: ZooKeeper's KeeperException.Code.
type code int32

const (
	codeOK                   code = 0
	codeRuntimeInconsistency code = -2
	codeMarshalling          code = -5
	codeUnimplemented        code = -6
	codeBadArguments         code = -8
	codeUnknownSession       code = -12
	codeNoNode               code = -101
	codeNoAuth               code = -102
	codeBadVersion           code = -103
	codeNoChildrenEphemeral  code = -108
	codeNodeExists           code = -110
	codeNotEmpty             code = -111
	codeSessionExpired       code = -112
	codeInvalidACL           code = -114
	codeAuthFailed           code = -115
	codeSessionMoved         code = -118
	codeNoWatcher            code = -121
	codeReconfigDisabled     code = -123
	codeRequiresSASL         code = -124
)

// eventType is what happened to a node, as a watch event carries it.
type eventType int32

const (
	nodeCreated         eventType = 1
	nodeDeleted         eventType = 2
	nodeDataChanged     eventType = 3
	nodeChildrenChanged eventType = 4
)

// syncConnected is the state that every watch event from a server names.
const syncConnected = 3
