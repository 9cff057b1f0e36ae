package zkconn

import (
	"cmp"
	"fmt"
	"strings"
	"unicode/utf8"
)

// reservedRoot is the subtree that ZooKeeper keeps for itself (configuration, quotas).
const reservedRoot = "/zookeeper"

// maxPath is the greatest length of a path in bytes: a path may be several times in a request of 1
// MiB.
const maxPath = 64 << 10

// maxLevels bounds the sum of the lengths of a path and all above it, in bytes (see
// actors.WithMaxNodeBytes). A path of short names has some 700 levels.
const maxLevels = 512 << 10

// CheckPath checks that path can name a node of ours. The error wraps ErrBadPath and names the
// value and the rule.
//
// It checks the rules of ZooKeeper's PathUtils.validatePath, and also refuses the root, /zookeeper
// and below, paths of more than 64 KiB, or of more than 512 KiB together with those of all nodes
// above (servers would run out of memory), and characters beyond U+FFFF: ZooKeeper looks at UTF-16
// units and refuses surrogates.
func CheckPath(path string) error {
	if len(path) > maxPath {
		return tooLong(path, "must not be longer than %d bytes, and has %d", maxPath, len(path))
	}
	levels := len(path)
	for at := strings.LastIndexByte(path, '/'); at > 0; at = strings.LastIndexByte(path[:at], '/') {
		levels += at
	}
	if levels > maxLevels {
		return tooLong(path, "has too many levels: the paths of the nodes down to it have %d bytes, and must not have more than %d", levels, maxLevels)
	}
	if rule := brokenPathRule(path); rule != "" {
		return fmt.Errorf("%w %q: %s", ErrBadPath, path, rule)
	}
	return nil
}

func tooLong(path, rule string, values ...any) error {
	return fmt.Errorf("%w %q...: %s", ErrBadPath, strings.ToValidUTF8(path[:64], ""), fmt.Sprintf(rule, values...))
}

func brokenPathRule(path string) string {
	switch {
	case path == "":
		return "must not be empty"
	case path[0] != '/':
		return "must be absolute (begin with a slash)"
	case path == "/":
		return "must not be the root"
	case path[len(path)-1] == '/':
		return "must not end with a slash"
	case !utf8.ValidString(path):
		return "must be valid UTF-8"
	case path == reservedRoot || strings.HasPrefix(path, reservedRoot+"/"):
		return "must not be in " + reservedRoot
	}
	for element := range strings.SplitSeq(path[1:], "/") {
		switch element {
		case "":
			return "must not contain an empty element (//)"
		case ".", "..":
			return `must not contain the elements "." or ".."`
		}
	}
	for _, r := range path {
		if r <= 0x1f || r >= 0x7f && r <= 0x9f || r >= 0xd800 && r <= 0xf8ff || r >= 0xfff0 {
			return fmt.Sprintf("must not contain the character %U", r)
		}
	}
	return ""
}

func checkPrefix(parent, prefix string) error {
	if strings.Contains(prefix, "/") {
		return fmt.Errorf("%w: name prefix %q: must not contain a slash", ErrBadPath, prefix)
	}
	// The digit stands for the sequence number, so that an empty prefix, "." and ".." are judged as
	// they will be.
	return cmp.Or(CheckPath(parent), CheckPath(parent+"/"+prefix+"0"))
}
