package queue_test

import (
	"fmt"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/turnstile-locks/turnstile/actors/queue"
	"github.com/turnstile-locks/turnstile/messages"
)

// styles are all forms that names have.
func styles() (all []queue.Style) {
	for _, mode := range []messages.Mode{messages.Exclusive, messages.Read, messages.Write} {
		for _, naming := range []messages.Naming{messages.CuratorNaming, messages.KazooNaming, messages.RecipeNaming} {
			all = append(all, queue.Style{Mode: mode, Naming: naming})
		}
		all = append(all, queue.Style{Mode: mode, Name: "orders"})
	}
	return append(all, queue.Style{Mode: messages.Semaphore, Weight: 3},
		queue.Style{Mode: messages.Semaphore, Weight: 12, Name: "a-b_c.d"})
}

// TestNamesAreReadBack: what a style writes says the same again, as far as other libraries' names can.
func TestNamesAreReadBack(t *testing.T) {
	for _, style := range styles() {
		name := style.Prefix(guid) + "0000000042"
		t.Run(name, func(t *testing.T) {
			e, ok := queue.Parse(name)
			require.True(t, ok)
			require.EqualValues(t, 42, e.Sequence)
			require.Equal(t, name, e.Child)
			require.Equal(t, style.Name, e.Name)
			require.Equal(t, style.Weight, e.Weight)
			if style.Naming == messages.KazooNaming && style.Mode == messages.Write {
				require.Equal(t, messages.Exclusive, e.Mode, "kazoo's WriteLock is its Lock")
			} else {
				require.Equal(t, style.Mode, e.Mode)
			}
		})
	}
}

// TestQueuesWithNames: for a request, contenders of a queue with another name do not exist.
func TestQueuesWithNames(t *testing.T) {
	mine := queue.Style{Name: "orders"}.Prefix(guid) + "0000000005"
	children := []string{"bills_lock_0000000001", "orders_lock_0000000002", "lock-0000000003",
		queue.Style{Name: "order"}.Prefix("b") + "0000000004", mine}
	position, ok := queue.Find(children, mine, 0)
	require.True(t, ok)
	require.Equal(t, "orders_lock_0000000002", position.Predecessor)
	require.True(t, position.Head)
	for _, name := range []string{"_lock_0000000001", "_c_" + guid + "-_lock_0000000001", "a_permits_0_0000000001",
		"a_permits_x_0000000001", "permits-0000000001", "permits--1-0000000001"} {
		_, ok := queue.Parse(name)
		require.False(t, ok, name)
	}
}

// member is a contender of a model queue.
type member struct {
	name   string
	mode   messages.Mode
	weight int
}

func members(t *rapid.T, modes ...messages.Mode) (all []member, children []string) {
	for i := range rapid.IntRange(1, 9).Draw(t, "length") {
		m := member{mode: rapid.SampledFrom(modes).Draw(t, "mode")}
		if m.mode == messages.Semaphore {
			m.weight = rapid.IntRange(1, 4).Draw(t, "weight")
		}
		m.name = queue.Style{Mode: m.mode, Weight: m.weight}.Prefix(fmt.Sprint(i)) + fmt.Sprintf("%010d", i)
		all = append(all, m)
		children = append(children, m.name)
	}
	return all, rapid.Permutation(children).Draw(t, "children")
}

// TestReadersAndWriters: a writer waits for everybody before it, a reader for the writers.
func TestReadersAndWriters(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		all, children := members(t, messages.Read, messages.Write)
		for i, m := range all {
			var earlier []string
			for _, other := range all[:i] {
				if m.mode == messages.Write || other.mode == messages.Write {
					earlier = append(earlier, other.name)
				}
			}
			position, ok := queue.Find(children, m.name, 0)
			require.True(t, ok)
			require.Len(t, earlier, position.Before, m.name)
			require.Equal(t, earlier, position.Earlier, m.name)
			if len(earlier) > 0 {
				require.Equal(t, earlier[len(earlier)-1], position.Predecessor, m.name)
			}
			require.LessOrEqual(t, len(position.Front), 1)
			if position.Head {
				require.Len(t, earlier, 1)
				require.True(t, m.mode == messages.Read || position.Predecessor != "" && all[0].mode == messages.Read)
			}
		}
	})
}

// TestDowngradeKeepsWritersOut: the read node of a writer has the writer's own number. Nobody who came
// behind the writer is first before both are gone, and nobody thinks so because one of them is.
func TestDowngradeKeepsWritersOut(t *testing.T) {
	const n = "0000000003"
	writer := queue.Style{Mode: messages.Write}.Prefix("a") + n
	reader := queue.Style{Mode: messages.Read}.Prefix("b") + n
	next := queue.Style{Mode: messages.Write}.Prefix("c") + "0000000004"
	nextReader := queue.Style{Mode: messages.Read}.Prefix("d") + "0000000004"

	position, _ := queue.Find([]string{writer, next}, next, 0)
	require.Equal(t, writer, position.Predecessor)
	require.False(t, position.Head, "the read node may be made at any time")
	position, _ = queue.Find([]string{reader, writer, next}, next, 0)
	require.Equal(t, queue.Position{Before: 2, Predecessor: reader, Front: []string{reader}, Earlier: []string{writer, reader}}, position)
	position, _ = queue.Find([]string{reader, next}, next, 0)
	require.Equal(t, 1, position.Before)
	for _, own := range []string{reader, writer} {
		position, _ = queue.Find([]string{reader, writer, next}, own, 0)
		require.Zero(t, position.Before, own)
	}
	position, _ = queue.Find([]string{reader, writer, nextReader}, nextReader, 0)
	require.Equal(t, queue.Position{Before: 1, Predecessor: writer, Head: true, Front: []string{writer}, Earlier: []string{writer}}, position)
	position, _ = queue.Find([]string{reader, nextReader}, nextReader, 0)
	require.Zero(t, position.Before)

	// The reader comes behind the writer whatever their GUIDs.
	early := queue.Style{Mode: messages.Read}.Prefix("0") + n
	require.Less(t, early, writer)
	require.Equal(t, []string{writer, early, next}, queue.NewListing([]string{next, early, writer}, 0).Queue(""))
	position, _ = queue.Find([]string{early, writer, next}, next, 0)
	require.Equal(t, queue.Position{Before: 2, Predecessor: early, Front: []string{early}, Earlier: []string{writer, early}}, position)
}

// TestReplacedNodeIsNotGone: the node of a hold that may be reclaimed can be replaced by another at its number. Nobody
// behind it takes its end for the turn.
func TestReplacedNodeIsNotGone(t *testing.T) {
	for _, style := range styles() {
		if style.Mode != messages.Exclusive {
			continue
		}
		held := style.Prefix(queue.Reclaimable+guid) + "0000000003"
		e, ok := queue.Parse(held)
		require.True(t, ok)
		require.Equal(t, style.Name, e.Name, held)
		for _, mode := range []messages.Mode{messages.Exclusive, messages.Read, messages.Write} {
			next := queue.Style{Mode: mode, Name: style.Name}.Prefix(guid) + "0000000004"
			position, shown := queue.Find([]string{held, next}, next, 0)
			require.True(t, shown)
			require.Equal(t, queue.Position{Before: 1, Predecessor: held, Front: []string{held}, Earlier: []string{held}}, position, held)
		}
		require.Equal(t, []string{held}, queue.NewListing([]string{held, "padlock-1"}, 0).Queue(style.Name))
	}
	waits := queue.Style{}.Prefix(queue.Reclaimable+guid) + "0000000004" // it waits itself
	first := queue.Style{}.Prefix(guid) + "0000000003"
	position, _ := queue.Find([]string{first, waits}, waits, 0)
	require.True(t, position.Head)
}

// TestSemaphoreOfTheQueue: a contender that fits with all before it holds; the first that does not
// fit watches them all, the others watch the one before them. When any contender leaves, each one
// that fits then has watched it, or learns it from the one before it, which moves up.
func TestSemaphoreOfTheQueue(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		all, children := members(t, messages.Semaphore)
		permits := rapid.IntRange(4, 12).Draw(t, "permits")
		waiting := false
		for i, m := range all {
			taken := 0
			for _, other := range all[:i+1] {
				taken += other.weight
			}
			position, ok := queue.Find(children, m.name, permits)
			require.True(t, ok)
			require.Equal(t, taken <= permits, position.Before == 0, m.name)
			require.False(t, position.Head)
			switch {
			case position.Before == 0:
				require.False(t, waiting, "nobody overtakes")
			case !waiting:
				require.Len(t, position.Front, i, "the first waiter sees any holder leave")
				require.Equal(t, all[i-1].name, position.Predecessor)
			default:
				require.Equal(t, []string{all[i-1].name}, position.Front)
			}
			waiting = waiting || position.Before > 0
		}
	})
}

func TestSemaphoreAmongOthers(t *testing.T) {
	lock := "lock-0000000001"
	own := queue.Style{Mode: messages.Semaphore, Weight: 1}.Prefix(guid) + "0000000002"
	position, ok := queue.Find([]string{own, lock}, own, 5)
	require.True(t, ok)
	require.Equal(t, []string{lock}, position.Front, "an exclusive lock in the queue takes all permits")
	position, _ = queue.Find([]string{own}, own, 0)
	require.Positive(t, position.Before, "more than there are")
	mutex := queue.Style{}.Prefix("a") + "0000000003"
	position, _ = queue.Find([]string{own, mutex}, mutex, 0)
	require.True(t, slices.Equal([]string{own}, position.Front))
}
