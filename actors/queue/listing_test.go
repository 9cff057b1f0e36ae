package queue_test

import (
	"fmt"
	"math"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/turnstile-locks/turnstile/actors/queue"
	"github.com/turnstile-locks/turnstile/messages"
)

const guid = "1b4e28ba-2fa1-11d2-883f-0016d3cca427"

func TestSequenceOfEveryClientsNames(t *testing.T) {
	for name, want := range map[string]int32{
		queue.Style{}.Prefix(guid) + "0000000000": 0,
		"_c_" + guid + "-lock-0000000042":         42, // Curator's InterProcessMutex
		"_c_1b4e28ba2fa111d2-lock-0000000042":     42, // go-zookeeper's Lock
		"lock-0000000003":                         3,  // no protection
		"_c_" + guid + "-__READ__0000000007":      7,  // Curator's read/write lock
		"_c_" + guid + "-__WRIT__0000000008":      8,
		"1b4e28ba2fa111d2__lock__0000000009":      9, // kazoo
		"1b4e28ba2fa111d2__rlock__0000000010":     10,
		"read-0000000011":                         11, // the recipe of ZooKeeper's documentation
		"write-0000000012":                        12,
		"_c_" + guid + "-lock-2147483647":         math.MaxInt32,
		"lock-0000000001-lock-0000000002":         2, // the last marker counts
		"lock-__READ__0000000013":                 13,
		"_c_" + guid + "-lock--2147483648":        math.MinInt32, // the counter has overflowed
		"_c_" + guid + "-lock--000000001":         -1,            // as %010d prints it
		"1b4e28ba2fa111d2__lock__-2147483647":     -2147483647,
		"_c_" + guid + "-lock--1000000000":        -1000000000,
		"\u00e9t\u00e9-_c_x-__WRIT__0000000015":   15,
		"_c_lock-0000000001-__READ__0000000016":   16, // a marker within the GUID's position
		"read-write-lock-0000000017":              17,
		"_c_00000000-0000000000-lock-0000000018":  18,
		"write-read-0000000019":                   19,
		"__lock__0000000020":                      20, // no GUID
		"1b4e28ba2fa111d2__lock__lock-0000000021": 21,
	} {
		got, ok := queue.Sequence(name)
		require.True(t, ok, name)
		require.Equal(t, want, got, name)
	}
}

// TestSequencePassesOverForeignChildren: what is no contender's is not an error (zk.Lock ends with
// Atoi's on such a directory).
func TestSequencePassesOverForeignChildren(t *testing.T) {
	for _, name := range []string{
		"", "lock-", "lock", "leases", "locks", "_c_x", "config", "0000000001", "-0000000001",
		"lock-1", "lock-000000001", // servers write ten digits
		"lock-00000000001", "_c_" + guid + "-lock-00000000000000014", // and no more
		"__rlock__00000000002", "orders_lock_00000000003", "permits-2-00000000004",
		"lock--0000000001", "lock--00000000001", // as %010d does not print them
		"lock-000000000x", "lock-0000000001x", "lock-0000000001 ", "lock- 000000001", "lock-0x00000001",
		"lock-1_000_000_0", "lock-00000000.1",
		"lock-2147483648", "lock--2147483649", "lock-99999999999999999999", // beyond the counter
		"__READ__", "lock-0000000001-config", "n_0000000001", "LOCK-0000000001", "__read__0000000001",
		"lock-\u0661\u0662\u0663\u0664\u0665", // digits, but not a server's
	} {
		seq, ok := queue.Sequence(name)
		require.False(t, ok, "%q: %d", name, seq)
		require.Zero(t, seq, name)
	}
}

func TestSequenceReadsWhatServersWrite(t *testing.T) {
	prefixes := []string{queue.Style{}.Prefix(guid), "_c_x-__READ__", "_c_x-__WRIT__", "x__lock__", "x__rlock__",
		"read-", "write-"}
	rapid.Check(t, func(t *rapid.T) {
		want := rapid.Int32().Draw(t, "sequence")
		name := rapid.SampledFrom(prefixes).Draw(t, "prefix") + fmt.Sprintf("%010d", want)
		got, ok := queue.Sequence(name)
		require.True(t, ok, name)
		require.Equal(t, want, got, name)
	})
}

func TestSequenceTakesAnyName(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		seq, ok := queue.Sequence(rapid.String().Draw(t, "name"))
		require.False(t, !ok && seq != 0)
	})
}

// TestExhausted: the border is 2^20 before the end of the counter, and what has overflowed is beyond.
func TestExhausted(t *testing.T) {
	for seq, want := range map[int32]bool{
		0: false, 1: false, 1 << 30: false,
		1<<31 - 1<<20 - 1: false, 1<<31 - 1<<20: true, 1<<31 - 1<<20 + 1: true,
		math.MaxInt32: true, math.MinInt32: true, -1: true,
	} {
		require.Equal(t, want, queue.Exhausted(seq), seq)
	}
}

// foreign are children that are no contenders.
var foreign = []string{"config", "lock-1", "_c_x", "lock-99999999999999999999"}

// drawQueue draws the children of a lock path: contenders of several clients, each with a number of its
// own, as the parent's one counter gives them, and foreign children; in any order.
func drawQueue(t *rapid.T) (contenders []string, children []string) {
	numbers := rapid.SliceOfNDistinct(rapid.Int32Range(-3, 30), 0, 8, rapid.ID).Draw(t, "numbers")
	slices.Sort(numbers)
	prefixes := []string{queue.Style{}.Prefix("a"), queue.Style{}.Prefix("b"), "x__lock__", "write-"}
	for _, n := range numbers {
		prefix := rapid.SampledFrom(prefixes).Draw(t, "prefix")
		contenders = append(contenders, prefix+fmt.Sprintf("%010d", n))
	}
	children = slices.Clone(contenders)
	children = append(children, rapid.SliceOfNDistinct(rapid.SampledFrom(foreign), 0, 3, rapid.ID).Draw(t, "foreign")...)
	if len(children) > 1 {
		children = rapid.Permutation(children).Draw(t, "children")
	}
	return contenders, children
}

// TestFind against the sorted queue.
func TestFind(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		contenders, children := drawQueue(t)
		given := slices.Clone(children)
		for at, own := range contenders {
			want := queue.Position{Before: at}
			if at > 0 {
				want.Predecessor = contenders[at-1]
				want.Front = contenders[at-1 : at]
				want.Earlier = contenders[:at]
				before, _ := queue.Parse(want.Predecessor)
				want.Head = at == 1 && before.Mode != messages.Write && before.Naming != messages.KazooNaming
			}
			got, ok := queue.Find(children, own, 0)
			require.True(t, ok, own)
			require.Equal(t, want, got, own)
		}
		require.Equal(t, given, children, "Find must leave the list as it was: it is shared")
	})
}

// TestFindMisses: a name that is not in the list has no position, and neither has a foreign one that is.
func TestFindMisses(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		_, children := drawQueue(t)
		absent := queue.Style{}.Prefix("absent") + "0000000015"
		for _, own := range append([]string{"", absent}, foreign...) {
			_, ok := queue.Find(children, own, 0)
			require.False(t, ok, own)
		}
	})
}

// TestFindWithEqualNumbers: a server whose counter sticks hands out duplicates. Neither of two is
// before the other: there is no tie to break, both are refused (see Exhausted).
func TestFindWithEqualNumbers(t *testing.T) {
	a, b := queue.Style{}.Prefix("a")+"2147483647", queue.Style{}.Prefix("b")+"2147483647"
	for _, own := range []string{a, b} {
		position, ok := queue.Find([]string{a, b}, own, 0)
		require.True(t, ok)
		require.Equal(t, queue.Position{}, position)
		seq, _ := queue.Sequence(own)
		require.True(t, queue.Exhausted(seq))
	}
}

func TestFindInAnEmptyList(t *testing.T) {
	_, ok := queue.Find(nil, queue.Style{}.Prefix("a")+"0000000001", 0)
	require.False(t, ok)
}
