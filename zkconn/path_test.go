package zkconn

import (
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

func TestPaths(t *testing.T) {
	for _, path := range []string{
		"/a", "/a/b", "/orders/42", "/zookeepers", "/a/zookeeper", "/...", "/.a", "/a..", "/ä/日本", "/a b", "/_c_-lock-", "/~",
	} {
		require.NoError(t, CheckPath(path), path)
	}
	for path, rule := range map[string]string{
		"": "empty", "a": "absolute", "a/b": "absolute", "/": "root", "//": "end with a slash", "/a/": "end with a slash",
		"/a//b": "empty element", "//a": "empty element", "/.": `"."`, "/a/../b": `".."`, "/a/./b": `"."`,
		"/zookeeper": "/zookeeper", "/zookeeper/quota": "/zookeeper",
		"/a\x00": "U+0000", "/a\x01": "U+0001", "/\x1f": "U+001F", "/\x7f": "U+007F", "/\u009f": "U+009F",
		"/\ue000": "U+E000", "/\uf8ff": "U+F8FF", "/\ufff0": "U+FFF0", "/\uffff": "U+FFFF", "/\U0001f512": "U+1F512",
		"/\xff": "UTF-8", "/\xed\xa0\x80": "UTF-8",
	} {
		err := CheckPath(path)
		require.ErrorIs(t, err, ErrBadPath, path)
		require.ErrorContains(t, err, rule)
		require.ErrorContains(t, err, strconv.Quote(path))
	}
}

func TestNamePrefixes(t *testing.T) {
	for _, prefix := range []string{"", "_c_x-lock-", ".", ".."} {
		require.NoError(t, checkPrefix("/a", prefix), prefix)
	}
	require.ErrorIs(t, checkPrefix("/a", "b/c"), ErrBadPath)
	require.ErrorIs(t, checkPrefix("/a", "b\x00"), ErrBadPath)
	require.ErrorIs(t, checkPrefix("a", "b"), ErrBadPath)
	require.ErrorIs(t, checkPrefix("/", "b"), ErrBadPath)
}

// TestLongPath: a path for which a request has no room is refused before anything is sent, in a sentence that can be read.
func TestLongPath(t *testing.T) {
	require.NoError(t, CheckPath("/"+strings.Repeat("x", maxPath-1)))
	err := CheckPath("/" + strings.Repeat("x", maxPath))
	require.ErrorIs(t, err, ErrBadPath)
	require.Less(t, len(err.Error()), 300)

	// A node of 30 000 levels weighs 900 MB of names at the servers.
	require.NoError(t, CheckPath(strings.Repeat("/a", 700)))
	for _, levels := range []int{730, 30_000} {
		err = CheckPath(strings.Repeat("/a", levels))
		require.ErrorIs(t, err, ErrBadPath)
		require.ErrorContains(t, err, "levels")
		require.Less(t, len(err.Error()), 300)
	}
}
