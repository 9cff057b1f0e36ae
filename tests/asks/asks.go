// Package asks is a table of the fields of messages.Acquire, with what tests have to know of each. The tests of requests,
// of the node's data, of gateways and of stories go by it, so a new field is a row.
package asks

import (
	"reflect"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/turnstile-locks/turnstile/messages"
)

// Field is a field of messages.Acquire.
type Field struct {
	Name string
	// Good is a value that is well formed on every lock on which the field has an effect; Bad is on none, nil where all
	// values are good.
	Good, Bad any
	// InNode: the contender's node tells of it, by its name or its data. Other sessions need not know the rest.
	InNode bool
	// UsedUp: a request that goes on to another gateway asks for what is left of it there, and for all else as before.
	UsedUp bool
}

var long = strings.Repeat("x", 1025)

// Fields are all of them.
var Fields = []Field{
	{"Path", "/asked", nil, false, false},
	{"Mode", messages.Read, nil, true, false},
	{"Name", "n", "a/b", true, false},
	{"Naming", messages.KazooNaming, messages.Naming(9), true, false},
	{"Permits", 3, -1, false, false},
	{"Weight", 2, -1, true, false},
	{"ExactPermits", true, nil, false, false},
	{"WatchAll", true, nil, false, false},
	{"Timeout", time.Hour, -time.Second, false, true},
	{"Try", true, nil, false, false},
	{"Grace", time.Hour, -time.Second, false, false},
	{"Beside", "_c_guid-__WRIT__0000000007", "_c_guid-__READ__0000000007", false, false},
	{"Owner", "me", long, true, false},
	{"Caller", "me", long, true, false},
	{"Deadlocks", messages.Detection{Root: "/", Every: time.Hour}, messages.Detection{Root: "/"}, true, false},
	{"Label", "me", long, true, false},
	{"Reclaim", "me", long, true, false},
	{"Priority", 1, -1, true, false},
	{"TellMore", true, nil, false, false},
}

// Of is the field of a request.
func (f Field) Of(want *messages.Acquire) reflect.Value {
	return reflect.ValueOf(want).Elem().FieldByName(f.Name)
}

// With gives a request that asks for a value by this field, too.
func (f Field) With(want messages.Acquire, value any) messages.Acquire {
	f.Of(&want).Set(reflect.ValueOf(value))
	return want
}

// Word sets the field in stories: "watch-all", or "permits=3".
func (f Field) Word() string {
	var word strings.Builder
	for i, r := range f.Name {
		if i > 0 && r < 'a' {
			word.WriteByte('-')
		}
		word.WriteString(strings.ToLower(string(r)))
	}
	return word.String()
}

// Read reads a request from the words of a story. find gives the value of a word, and reports whether it is there.
func Read(t *testing.T, find func(word string) (text string, is bool)) (want messages.Acquire) {
	t.Helper()
	for _, f := range Fields {
		text, is := find(f.Word())
		if !is {
			continue
		}
		var value any = text
		var err error
		switch f.Good.(type) {
		case bool:
			value = true
		case int:
			value, err = strconv.Atoi(text)
		case time.Duration:
			value, err = time.ParseDuration(text)
		case messages.Mode:
			value = named(messages.Mode.String, text)
		case messages.Naming:
			value = named(messages.Naming.String, text)
		}
		require.NoError(t, err)
		want = f.With(want, value)
	}
	return want
}

// Flags gives a request by those of the fields that are true or false for which set says so.
func Flags(set func(word string) bool) (want messages.Acquire) {
	for _, f := range Fields {
		if _, is := f.Good.(bool); is && set(f.Word()) {
			want = f.With(want, true)
		}
	}
	return want
}

// named finds the value of a name; another unknown one for none.
func named[T ~uint8](name func(T) string, text string) (value T) {
	for name(value) != text && name(value) != "unknown" {
		value++
	}
	return value
}
