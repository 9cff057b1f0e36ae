package conformance

import (
	"crypto/sha1"
	"encoding/base64"
	"fmt"
)

// Arguments are drawn from the pools. A value that is to be drawn more often stands more often. The
// nearer it stands to the front, the better it shrinks.

// names are the operations, by weight.
var names = weighted(map[string]int{
	"create": 18, "create2": 8, "createContainer": 2, "createTTL": 3,
	"delete": 8, "setData": 9, "exists": 6, "getData": 7, "getChildren": 5, "getChildren2": 5,
	"getACL": 3, "setACL": 5, "getEphemerals": 2, "childrenNumber": 2, "whoAmI": 1, "sync": 1, "ping": 1,
	"check": 1, "multi": 11, "multiRead": 3, "setWatches": 2, "setWatches2": 3, "addWatch": 5,
	"removeWatches": 3, "checkWatches": 3, "auth": 2, "close": 2, "open": 1, "reattach": 4,
	"unknown": 1, "frame": 1, "deleteContainer": 3, "reconfig": 1, "sasl": 1, burst: 7,
})

var (
	multiNames = weighted(map[string]int{
		"create": 8, "create2": 4, "delete": 4, "setData": 6, "check": 5, "createContainer": 2, "createTTL": 2,
	})
	// oddParts may not be in a multi.
	oddParts       = []string{"getData", "exists", "setACL", "deleteContainer", "ping"}
	multiReadNames = weighted(map[string]int{"getData": 16, "getChildren": 16, "create": 1, "exists": 1})
	// burstNames leaves out what a real server answers out of turn, and setACL: until it has been
	// applied, the requests behind it are judged by the old list, and whether it has been
	// applied is a race.
	burstNames = weighted(map[string]int{
		"create": 9, "create2": 4, "delete": 5, "setData": 6, "exists": 4, "getData": 5, "getChildren": 2,
		"getChildren2": 3, "getACL": 1, "multi": 5, "multiRead": 1, "sync": 1, "addWatch": 1,
		"createContainer": 1, "getEphemerals": 1, "ping": 1,
	})
	// afterClose only reads: what follows a session's end may or may not be read by the server,
	// and a write takes a transaction id.
	afterClose = []string{"exists", "getData", "getChildren", "sync"}
)

const privatePaths = 3

var (
	sessions = []int{0, 0, 0, 0, 1, 1, 1, 2, 2, 3}

	childNames = []string{"a", "b", "c", "q", "d", "q0000000000", "q0000000001", "q0000000003", "ü", ""}
	usualPaths = []string{
		"~/a", "~/b", "~/a/b", "~/q0000000000", "~/q0000000001", "~/q0000000002", "~/q0000000003", "~/a/q0000000000",
		"~/a/q0000000001", "~/a/q0000000002", "~/b/q0000000000", "~/c", "~/a/a", "~/missing/child",
	}
	// rarePaths begin with privatePaths that nobody shares.
	rarePaths = []string{
		"~", "~/missing", "~/missing/child",
		"/", "/zookeeper", "/zookeeper/quota", "/zookeeper/config", "/missing",
	}
	badPaths = []string{
		`""`, "a", "~/a/", "~//a", "~/.", "~/..", "~/a/../b", "~/a/.", "~/...", `"~/a\x00b"`, `"~/\x01"`, `"~/\x1f"`,
		`"~/\x7f"`, `"~/\u0085"`, `"~/\u009f"`, `"~/\u00a0"`, `"~/\xed\xa0\x80"`, `"~/\xff"`, `"~/\ue000"`, `"~/\uf8ff"`, `"~/\uf900"`,
		`"~/\ufff0"`, `"~/\U0001f600"`, `"~/é"`, `"~/ "`, "null",
	}
)

var (
	datas     = []string{"null", `""`, "x", "some-data", "x*300"}
	bigDatas  = []string{"x*1000000", "x*1048000", "x*1048500", "x*1048575", "x*1048576", "x*1100000"}
	flags     = []string{"0", "1", "2", "3", "4", "5", "6", "7", "-1", "256"}
	zxids     = []string{"+0", "+5", "+20", "+100", "0", "-1", "9223372036854775807"}
	codes     = []string{"99", "0", "10", "23", "-1", "-12", "108", "1000", "2147483647"}
	lengths   = []string{"-1", "-2147483648", "0", "1", "4", "7", "1048576", "2147483647"}
	timeouts  = []string{"60000", "0", "-1", "1", "29999", "30000", "30001", "59999", "60001", "2147483647", "-2147483648"}
	readOnlys = []string{"false", "false", "true", "absent"}
	passwords = []string{"right", "right", "right", "right", "wrong", "null", "empty", "short"}
	schemes   = []string{"digest", "digest", "digest", "digest", "digest", "digest", "ip", "world", "auth", "nonsense", `""`}
	auths     = []string{"u:p", "u:p", "v:q", "u:p", "v:q", "nocolon", `""`, "null", "u:p:r", ":"}
)

// numbers are drawn from the odd ones seldom.
var numbers = map[string]struct{ usual, odd []string }{
	"version": {[]string{"-1", "-1", "-1", "0", "1"}, []string{"0", "1", "2", "3", "-2", "100", "2147483647", "-2147483648"}},
	"ttl":     {[]string{"100000", "1099511627775", "1000000"}, []string{"1", "0", "-1", "1099511627776", "9223372036854775807", "-9223372036854775808"}},
	"mode":    {[]string{"0", "1"}, []string{"1", "0", "2", "-1"}},
	"type":    {[]string{"3", "1", "2", "4", "5"}, []string{"3", "0", "6", "-1"}},
}

// goodACLs are valid, if the session is known.
var goodACLs = []string{
	openACL, openACL, "[1:world:anyone]", "[30:world:anyone]", "[27:world:anyone]", `[31:auth:""]`, "[23:world:anyone]", "[29:world:anyone]",
	digestACL(31, "u:p"), `[15:world:anyone,16:auth:""]`, "[31:ip:127.0.0.1]", "[1:world:anyone,31:digest:a:b]", "[15:world:anyone]",
}

// acls are all lists, many of them not valid.
var acls = []string{
	openACL, openACL, "[1:world:anyone]", "[30:world:anyone]", "[2:world:anyone]", "[4:world:anyone]", "[8:world:anyone]",
	"[16:world:anyone]", "[0:world:anyone]", "[-1:world:anyone]", "[64:world:anyone]",
	digestACL(31, "u:p"), digestACL(1, "u:p"), digestACL(30, "v:q"), "[31:digest:a:b]", "[31:digest:a]", "[31:digest:a:b:c]", `[31:digest:""]`,
	`[31:auth:""]`, `[1:auth:whatever,30:world:anyone]`, `[15:world:anyone,16:auth:""]`, "[1:world:anyone,31:digest:a:b]",
	"[31:ip:127.0.0.1]", "[31:ip:10.0.0.1]", "[31:ip:127.0.0.0/8]", "[31:ip:127.0.0.1/33]", "[31:ip:127.0.0.1/-1]", "[31:ip:nowhere]", "[31:ip:::1]",
	"[31:ip:::1/64]", "[31:ip:::1/129]", "[31:ip:1:2:3:4:5:6:7:8]", "[31:ip:1:2:3:4:5:6:7]", "[31:ip:1::2::3]", "[31:ip:::ffff:127.0.0.1]",
	"[31:ip:::/0]", "[31:ip:fe80::12345]",
	"[31:world:someone]", "[31:nonsense:x]", `[31:"":x]`, "[31:null:x]", "[31:world:null]", "[31:null:null]", "[31:digest:null]",
	"[1:world:anyone,1:world:anyone]", "[1:world:anyone,2:world:anyone]", "[]", "null",
}

// digestACL is the access list for clients that know the password.
func digestACL(perms int, secret string) string {
	sum := sha1.Sum([]byte(secret))
	return fmt.Sprintf("[%d:digest:%q]", perms, secret[:1]+":"+base64.StdEncoding.EncodeToString(sum[:]))
}
