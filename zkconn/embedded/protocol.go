package embedded

import (
	"fmt"
	"strings"
	"unicode/utf16"
	"unicode/utf8"
)

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

// eventType is the change of a node that a watch event reports.
type eventType int32

const (
	nodeCreated         eventType = 1
	nodeDeleted         eventType = 2
	nodeDataChanged     eventType = 3
	nodeChildrenChanged eventType = 4
)

// syncConnected is the state that every watch event from a server names.
const syncConnected = 3

// validPath applies the rules of ZooKeeper's PathUtils: absolute, no slash at the end, no empty, "." or
// ".." name, and none of the characters that it calls invalid. Names outside the basic multilingual plane
// are invalid because Java sees them as surrogates; malformed UTF-8 is, because Java reads U+FFFD there.
func validPath(path string) bool {
	if path == "/" {
		return true
	}
	if path == "" || path[0] != '/' || path[len(path)-1] == '/' {
		return false
	}
	for name := range strings.SplitSeq(path[1:], "/") {
		if name == "" || name == "." || name == ".." {
			return false
		}
	}
	return strings.IndexFunc(path, invalidRune) < 0
}

func invalidRune(r rune) bool {
	return r <= 0x1f || r >= 0x7f && r <= 0x9f || r >= 0xd800 && r <= 0xf8ff || r >= 0xfff0
}

// splitPath cuts a path at its last slash: the parent of "/a" is "", which is the root's other name.
func splitPath(path string) (parent, name string, ok bool) {
	slash := strings.LastIndexByte(path, '/')
	if slash < 0 || strings.IndexByte(path, 0) >= 0 {
		return "", "", false
	}
	return path[:slash], path[slash+1:], true
}

// The nodes that ZooKeeper keeps for itself.
const (
	rootPath   = "/"
	systemPath = "/zookeeper"
	quotaPath  = "/zookeeper/quota"
	configPath = "/zookeeper/config"
)

func special(path string) bool {
	return path == rootPath || path == systemPath || path == quotaPath || path == configPath
}

// shown is a parent's path as watches know it: the root has its ordinary name there.
func shown(parent string) string {
	if parent == "" {
		return rootPath
	}
	return parent
}

// null stands for a null string. It is not valid UTF-8, and all other text is.
const null = "\xff"

// readable turns bytes into text as Java does: bytes that are not UTF-8 become U+FFFD, one for as
// many bytes as could have begun a character, and one for a surrogate.
func readable(b []byte) string {
	if utf8.Valid(b) {
		return string(b)
	}
	var text strings.Builder
	for len(b) > 0 {
		r, size := utf8.DecodeRune(b)
		if r == utf8.RuneError && size == 1 {
			size = malformed(b)
		}
		text.WriteRune(r)
		b = b[size:]
	}
	return text.String()
}

// surrogates writes text as ZooKeeper does: a character that is two in Java goes over the wire as two, each
// in three bytes.
func surrogates(s string) string {
	if strings.IndexFunc(s, func(r rune) bool { return r > 0xffff }) < 0 {
		return s
	}
	var text []byte
	for _, r := range s {
		if r <= 0xffff {
			text = utf8.AppendRune(text, r)
			continue
		}
		high, low := utf16.EncodeRune(r)
		for _, half := range []rune{high, low} {
			text = append(text, 0xe0|byte(half>>12), 0x80|byte(half>>6)&0x3f, 0x80|byte(half)&0x3f)
		}
	}
	return string(text)
}

// malformed gives the number of bytes that one U+FFFD replaces.
func malformed(b []byte) int {
	least, most, more := byte(0x80), byte(0xbf), 0
	switch lead := b[0]; {
	case lead >= 0xc2 && lead <= 0xdf:
		more = 1
	case lead >= 0xe0 && lead <= 0xef:
		more = 2
		if lead == 0xe0 {
			least = 0xa0
		}
	case lead >= 0xf0 && lead <= 0xf4:
		more = 3
		if lead == 0xf0 {
			least = 0x90
		}
		if lead == 0xf4 {
			most = 0x8f
		}
	}
	n := 1
	for n <= more && n < len(b) && b[n] >= least && b[n] <= most {
		least, most = 0x80, 0xbf
		n++
	}
	return n
}
