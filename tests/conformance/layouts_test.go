package conformance

import "slices"

// kind is the form of a field on the wire.
type kind int

const (
	kindPath kind = iota // a string that may begin with the root
	kindText             // a string or a buffer
	kindInt
	kindLong
	kindBool
	kindZxid // a long; written +n it counts from the root's creation
	kindACL
	kindPaths // a vector of paths
	kindNames // a vector of names, in no order
	kindNamesOfPaths
	kindStat
	kindClients // who the server thinks we are
	kindResults // what a multi answers
)

type field struct {
	key       string
	kind      kind
	otherwise string // its value when an operation does not give one
}

// layout is the form of an operation's request and answer.
type layout struct {
	code    int32
	request []field
	reply   []field
	// harness marks what is no single request, or says to the harness how to send it.
	harness []string
}

const (
	burst    = "burst"
	openACL  = "[31:world:anyone]"
	anyAlter = "-1"
)

// spoils are arguments of every request: how many bytes the body lacks at its end, and how many follow it.
var spoils = []string{"cut", "pad"}

// numbered is the argument for a request whose number is not the next one. Clients give -4 to every
// authentication and -8 to every setWatches.
const numbered = "xid"

func (l layout) knows(key string) bool {
	for _, f := range l.request {
		if f.key == key {
			return true
		}
	}
	return key == numbered || slices.Contains(spoils, key) || slices.Contains(l.harness, key)
}

var (
	path  = field{"path", kindPath, "~/a"}
	watch = field{"watch", kindBool, "false"}

	createFields = []field{path, {"data", kindText, "null"}, {"acl", kindACL, openACL}, {"flags", kindInt, "0"}}
	statReply    = []field{{"stat", kindStat, ""}}
	created      = []field{{"path", kindPath, ""}}
	created2     = []field{{"path", kindPath, ""}, {"stat", kindStat, ""}}
	versioned    = []field{path, {"version", kindInt, anyAlter}}
	read         = []field{path, watch}
	typed        = []field{path, {"type", kindInt, "3"}}
	watches      = []field{{"zxid", kindZxid, "+0"}, {"data", kindPaths, "[]"}, {"exist", kindPaths, "[]"}, {"child", kindPaths, "[]"}}
	watches2     = append(watches[:len(watches):len(watches)],
		field{"persistent", kindPaths, "[]"}, field{"recursive", kindPaths, "[]"})
)

// layouts are all operations that can be written.
var layouts = map[string]layout{
	"create":          {code: 1, request: createFields, reply: created},
	"delete":          {code: 2, request: versioned},
	"exists":          {code: 3, request: read, reply: statReply},
	"getData":         {code: 4, request: read, reply: []field{{"data", kindText, ""}, {"stat", kindStat, ""}}},
	"setData":         {code: 5, request: []field{path, {"data", kindText, "null"}, {"version", kindInt, anyAlter}}, reply: statReply},
	"getACL":          {code: 6, request: []field{path}, reply: []field{{"acl", kindACL, ""}, {"stat", kindStat, ""}}},
	"setACL":          {code: 7, request: []field{path, {"acl", kindACL, openACL}, {"version", kindInt, anyAlter}}, reply: statReply},
	"getChildren":     {code: 8, request: read, reply: []field{{"children", kindNames, ""}}},
	"sync":            {code: 9, request: []field{path}, reply: []field{{"path", kindPath, ""}}},
	"ping":            {code: 11},
	"getChildren2":    {code: 12, request: read, reply: []field{{"children", kindNames, ""}, {"stat", kindStat, ""}}},
	"check":           {code: 13, request: versioned, reply: statReply},
	"multi":           {code: 14, reply: []field{{"", kindResults, ""}}},
	"create2":         {code: 15, request: createFields, reply: created2},
	"reconfig":        {code: 16, request: []field{{"joining", kindText, "null"}, {"leaving", kindText, "null"}, {"members", kindText, "null"}, {"config", kindLong, "-1"}}},
	"checkWatches":    {code: 17, request: typed},
	"removeWatches":   {code: 18, request: typed},
	"createContainer": {code: 19, request: createFields, reply: created2},
	"deleteContainer": {code: 20, request: []field{path}},
	"createTTL":       {code: 21, request: append(createFields[:len(createFields):len(createFields)], field{"ttl", kindLong, "100000"}), reply: created2},
	"multiRead":       {code: 22, reply: []field{{"", kindResults, ""}}},
	"auth":            {code: 100, request: []field{{"type", kindInt, "0"}, {"scheme", kindText, "digest"}, {"auth", kindText, "u:p"}}},
	"setWatches":      {code: 101, request: watches},
	"sasl":            {code: 102, request: []field{{"token", kindText, `""`}}, reply: []field{{"token", kindText, ""}}},
	"getEphemerals":   {code: 103, request: []field{{"path", kindPath, "~"}}, reply: []field{{"paths", kindNamesOfPaths, ""}}},
	"childrenNumber":  {code: 104, request: []field{path}, reply: []field{{"number", kindInt, ""}}},
	"setWatches2":     {code: 105, request: watches2},
	"addWatch":        {code: 106, request: []field{path, {"mode", kindInt, "0"}}, reply: []field{{"err", kindInt, ""}}},
	"whoAmI":          {code: 107, reply: []field{{"clients", kindClients, ""}}},
	"close":           {code: -11},
	// unknown is a request of a kind that there is not, unless code says one.
	"unknown": {code: 99, harness: []string{"code"}},
	// frame sends a length, and a given number of bytes.
	"frame": {harness: []string{"length", "send"}},
	// open begins a session where the last one has ended or lost its connection.
	"open": {harness: connectArguments},
	// reattach takes the session to a new connection.
	"reattach": {harness: connectArguments},
	// expire says nothing until the session is gone, which the session named by learns. The timeout
	// is the one that was granted.
	"expire": {harness: []string{"by", "timeout"}},
	// burst sends all its parts before it reads any answer.
	burst: {},
}

// connectArguments: timeout asked for in milliseconds; zxid last seen; readonly is true,
// false or absent; password is right, wrong, null, empty or short; id is mine or unknown.
var connectArguments = []string{"timeout", "zxid", "readonly", "password", "id", "protocol", "drop"}
