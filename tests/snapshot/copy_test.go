package snapshot

import (
	"reflect"
	"testing"

	"github.com/stretchr/testify/require"
)

type whole struct {
	number int
	text   string
	list   []int
	lists  map[string][]int
	next   *whole
	both   [2]*part
	fixed  *fixed
	any    any
}

type part struct{ back *whole }

type fixed struct{ list []int }

// TestCopy: a copy is equal, and shares nothing that can change; what two pointers point to is one thing in the copy, too.
func TestCopy(t *testing.T) {
	w := &whole{number: 1, text: "text", list: []int{1, 2}, lists: map[string][]int{"a": {3}}, fixed: &fixed{[]int{4}}, any: 5}
	w.next = &whole{number: 2, list: make([]int, 0, 8)}
	w.both = [2]*part{{w.next}, nil}
	w.both[1] = w.both[0]
	copier := NewCopier[whole](reflect.TypeFor[fixed]())
	c := copier.Copy(w)
	require.Equal(t, w, c)
	require.Same(t, w.fixed, c.fixed)
	require.Same(t, c.next, c.both[0].back)
	require.Same(t, c.both[0], c.both[1])

	w.list[0], w.lists["a"][0], w.lists["b"], w.next.number = 9, 9, nil, 9
	w.next.list = append(w.next.list, 9)
	require.Equal(t, []int{1, 2}, c.list)
	require.Equal(t, map[string][]int{"a": {3}}, c.lists)
	require.Equal(t, 2, c.next.number)
	require.Zero(t, append(c.next.list, 1)[0]-1)
	require.Equal(t, 9, w.next.list[0])
	require.NotSame(t, w.next, c.next)
	require.Nil(t, copier.Copy(&whole{}).lists)
}
