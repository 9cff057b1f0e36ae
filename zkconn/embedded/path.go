package embedded

import "strings"

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
