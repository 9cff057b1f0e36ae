package snapshot

import (
	"reflect"
	"testing"

	"github.com/stretchr/testify/require"
)

// TestPrint: values that differ in one field are printed differently, wherever it is; equal ones are printed the same, and so
// are those that differ in what a rule passes over.
func TestPrint(t *testing.T) {
	prints := NewPrinter(func(name string, _ reflect.Type) Write[string] {
		switch name {
		case "snapshot.whole.text":
			return Skip[string]
		case "snapshot.fixed.list":
			return func(w *Writer[string], v reflect.Value) { w.Text(w.Context); w.Flag(v.Len() > 1) }
		}
		return nil
	})
	value := func() *whole {
		w := &whole{number: 1, text: "text", list: []int{1}, lists: map[string][]int{"a": {1}, "b": nil}, fixed: &fixed{[]int{1}}, any: 5}
		w.next = &whole{}
		w.both = [2]*part{{w}, {w.next}}
		return w
	}
	print := func(w *whole) string { return string(prints.Append(nil, reflect.ValueOf(w), "of")) }
	for range 20 { // a map has no order
		require.Equal(t, print(value()), print(value()))
	}
	for name, change := range map[string]func(w *whole){
		"a number":      func(w *whole) { w.number = -1 },
		"a list":        func(w *whole) { w.list = append(w.list, 0) },
		"a key":         func(w *whole) { delete(w.lists, "b") },
		"a value":       func(w *whole) { w.lists["b"] = []int{0} },
		"further down":  func(w *whole) { w.next.number = 1 },
		"a pointer":     func(w *whole) { w.both[1].back = w },
		"a nil":         func(w *whole) { w.both[1] = nil },
		"an interface":  func(w *whole) { w.any = uint(5) },
		"by a rule":     func(w *whole) { w.fixed.list = []int{1, 2} },
		"an empty list": func(w *whole) { w.list = nil },
	} {
		w := value()
		change(w)
		require.NotEqual(t, print(value()), print(w), name)
	}
	w := value()
	w.text, w.fixed.list[0] = "other", 2
	require.Equal(t, print(value()), print(w))
	require.Panics(t, func() { prints.Append(nil, reflect.ValueOf(struct{ f func() }{}), "") })

	values := NewPrinter(func(name string, _ reflect.Type) Write[string] {
		if name == "map[int]string" || name == "[]int" {
			return Values[string]
		}
		return nil
	})
	one := values.Append(nil, reflect.ValueOf(map[int]string{1: "a", 2: "b"}), "")
	require.Equal(t, one, values.Append(nil, reflect.ValueOf(map[int]string{7: "b", 3: "a"}), ""))
	require.NotEqual(t, one, values.Append(nil, reflect.ValueOf(map[int]string{7: "b", 3: "b"}), ""))
	require.Equal(t, values.Append(nil, reflect.ValueOf([]int{1, 2}), ""), values.Append(nil, reflect.ValueOf([]int{2, 1}), ""))
}
