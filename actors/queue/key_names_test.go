package queue

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"strconv"
	"strings"
	"testing"
	"unicode"
	"unicode/utf8"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/turnstile-locks/turnstile/zkconn"
)

// keysOfAllSorts are keys that a naive escape takes for one another, or that ZooKeeper refuses.
var keysOfAllSorts = []string{
	"", ".", "..", "...", "zookeeper", "zookeepers", "%2E", "%", "%%", "%25", "%(empty)", "%()", "a", "A", "a/b", "a%2Fb", "a//b",
	"/", "//", "a/", "/a", "\x00", "%00", "a\x00b", "\xff", "%FF", "\xc3\x28", "\xed\xa0\x80", "\ufffd", "\ufeff", "\uf8ff", "😀", "é",
	"e\u0301", " ", "  ", " a", "a ", "a b", "%20", "\n", "\u200b", "\u202e", "lock-0000000001", "lock-000000000%31", "_c_x-lock-0000000001",
	"x__READ__-000000001", "1234567890", "tenant:7, Köln", strings.Repeat("x", 128), strings.Repeat("x", 129),
	strings.Repeat("x", 10_000), strings.Repeat("x", 10_001), strings.Repeat("x", 9_999) + "y", strings.Repeat("\xff", 43),
	strings.Repeat("x", 61) + fmt.Sprintf("%%(%x)", sha256.Sum256([]byte(strings.Repeat("x", 129)))),
	strings.Repeat("y", 113) + "-lock-000000001", strings.Repeat("y", 112) + "-lock-0000000001",
}

// TestNamesOfKeys: what people see.
func TestNamesOfKeys(t *testing.T) {
	long := strings.Repeat("x", 10_000)
	for key, name := range map[string]string{
		"": "%(empty)", ".": "%2E", "..": "%2E.", "...": "...", "zookeeper": "%7Aookeeper", "a/b": "a%2Fb", "100%": "100%25",
		"a\x00b": "a%00b", "\xff": "%FF", "\ufffd": "%EF%BF%BD", "😀": "%F0%9F%98%80", "tenant:7, Köln": "tenant:7, Köln",
		" a b ": "%20a b%20", "1234567890": "1234567890", "lock-0000000001": "lock-000000000%31",
		long: long[:61] + fmt.Sprintf("%%(%x)", sha256.Sum256([]byte(long))),
	} {
		require.Equal(t, name, NameOfKey(key), "%.40q", key)
	}
}

// TestNoTwoKeysShareAName: the keys that are likely to.
func TestNoTwoKeysShareAName(t *testing.T) {
	keys := make(map[string]string)
	for _, key := range keysOfAllSorts {
		checkName(t, key)
		name := NameOfKey(key)
		other, taken := keys[name]
		require.False(t, taken, "%q: %.40q and %.40q", name, key, other)
		keys[name] = key
	}
}

// TestEveryKeyHasAName: random keys, bytes and text, some near the bound.
func TestEveryKeyHasAName(t *testing.T) {
	pieces := rapid.OneOf(rapid.SampledFrom(keysOfAllSorts), rapid.String(),
		rapid.Map(rapid.SliceOf(rapid.Byte()), func(b []byte) string { return string(b) }))
	rapid.Check(t, func(t *rapid.T) {
		key := strings.Join(rapid.SliceOfN(pieces, 1, 4).Draw(t, "pieces"), "")
		checkName(t, key)
		if other := strings.Join(rapid.SliceOfN(pieces, 1, 4).Draw(t, "others"), ""); key != other {
			require.NotEqual(t, NameOfKey(key), NameOfKey(other))
		}
	})
}

func FuzzKeyNames(f *testing.F) {
	for i, key := range keysOfAllSorts {
		f.Add(key, keysOfAllSorts[(i+1)%len(keysOfAllSorts)])
	}
	f.Fuzz(func(t *testing.T, key, other string) {
		checkName(t, key)
		require.Equal(t, key == other, NameOfKey(key) == NameOfKey(other), "%q, %q", key, other)
	})
}

// checkName checks that the name gives its key back, or has the hash of it, and that servers take
// it.
func checkName(t require.TestingT, key string) {
	name := NameOfKey(key)
	require.LessOrEqual(t, len(name), 128, "%q", name)
	require.NoError(t, zkconn.CheckPath("/"+name), "%.40q", key)
	require.True(t, utf8.ValidString(name))
	require.NotContains(t, name, "/")
	require.Equal(t, -1, strings.IndexFunc(name, func(r rune) bool { return !unicode.IsPrint(r) }), "%q", name)
	require.Equal(t, name, strings.TrimSpace(name))
	_, contender := Parse(name)
	require.False(t, contender, "%q looks like a contender's node", name)
	text, hash, err := readName(name)
	require.NoError(t, err, "%q", name)
	if hash == "" {
		require.Equal(t, key, text, "%q", name)
		return
	}
	of := sha256.Sum256([]byte(key))
	require.Equal(t, hex.EncodeToString(of[:]), hash, "%q", name)
	require.True(t, strings.HasPrefix(key, text), "%q", name)
}

// readName reads a name as the doc of locks.Keyed has it: the key, or the beginning of it and its hash.
func readName(name string) (text, hash string, err error) {
	if name == "%(empty)" {
		return "", "", nil
	}
	if before, rest, cut := strings.Cut(name, "%("); cut {
		name, hash = before, strings.TrimSuffix(rest, ")")
		if len(hash) != 64 {
			return "", "", fmt.Errorf("a hash of %d digits", len(hash))
		}
	}
	var key []byte
	for name != "" {
		if name[0] != '%' {
			key, name = append(key, name[0]), name[1:]
			continue
		}
		if len(name) < 3 {
			return "", "", fmt.Errorf("an escape that is cut: %s", name)
		}
		b, err := strconv.ParseUint(name[1:3], 16, 8)
		if err != nil || strings.ToUpper(name[1:3]) != name[1:3] {
			return "", "", fmt.Errorf("no escape: %s", name)
		}
		key, name = append(key, byte(b)), name[3:]
	}
	return string(key), hash, nil
}
