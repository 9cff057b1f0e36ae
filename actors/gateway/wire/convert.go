package wire

import (
	"reflect"
	"strings"
	"sync"
	"time"

	"google.golang.org/protobuf/proto"

	"github.com/turnstile-locks/turnstile/messages"
)

// Messages of this package and those of package messages have the same names, and so have their fields, but for points in
// time, which cross as SinceUnixNano. What has no namesake on the other side does not cross.

func asItIs(text string) string { return text }

// convert sets the fields of one message from their namesakes in another. Both are pointers; text is what becomes of
// texts.
func convert(to, from any, text func(string) string) {
	set(reflect.ValueOf(to).Elem(), reflect.ValueOf(from), text)
}

func set(to, from reflect.Value, text func(string) string) {
	switch {
	case from.IsZero(): // and so is what is set
	case from.Kind() == reflect.Pointer:
		set(to, from.Elem(), text)
	case to.Kind() == reflect.Pointer:
		to.Set(reflect.New(to.Type().Elem()))
		set(to.Elem(), from, text)
	case to.Type() == instant:
		*to.Addr().Interface().(*time.Time) = time.Unix(0, from.Int()).UTC()
	case from.Type() == instant:
		if at := from.Interface().(time.Time); !at.IsZero() {
			to.SetInt(at.UnixNano())
		}
	case to.Kind() == reflect.Struct:
		for _, both := range namesakes(to.Type(), from.Type()) {
			set(to.FieldByIndex(both[0]), from.FieldByIndex(both[1]), text)
		}
	case to.Kind() == reflect.Slice:
		for i := range from.Len() {
			to.Set(reflect.Append(to, reflect.Zero(to.Type().Elem())))
			set(to.Index(i), from.Index(i), text)
		}
	case to.Kind() == reflect.String:
		to.SetString(text(from.String()))
	case to.Kind() == reflect.Uint8:
		to.SetUint(min(from.Uint(), 255)) // a number that does not fit is unknown, and so is 255
	case to.CanUint():
		to.SetUint(from.Uint())
	case to.CanInt():
		to.SetInt(from.Int())
	default:
		to.SetBool(from.Bool())
	}
}

var instant = reflect.TypeFor[time.Time]()

// pairs has the namesakes of two types, once they have been looked for.
var pairs sync.Map

// namesakes gives the places of the fields of two types that have the same name.
func namesakes(to, from reflect.Type) (both [][2][]int) {
	if known, is := pairs.Load([2]reflect.Type{to, from}); is {
		return known.([][2][]int)
	}
	name := func(f reflect.StructField) string { return strings.ToLower(strings.TrimSuffix(f.Name, "UnixNano")) }
	for _, a := range reflect.VisibleFields(to) {
		for _, b := range reflect.VisibleFields(from) {
			if name(a) == name(b) && a.IsExported() {
				both = append(both, [2][]int{a.Index, b.Index})
			}
		}
	}
	pairs.Store([2]reflect.Type{to, from}, both)
	return both
}

// known has the messages of package messages that cross, by their names.
var known = func(all ...any) map[string]reflect.Type {
	types := map[string]reflect.Type{}
	for _, m := range all {
		types[reflect.TypeOf(m).Name()] = reflect.TypeOf(m)
	}
	return types
}(messages.Transition{}, messages.Held{}, messages.Waiting{}, messages.Behind{}, messages.Watched{}, messages.Contended{}, messages.Checked{},
	messages.Suspended{}, messages.Resumed{}, messages.RevokeRequested{}, messages.Revoked{}, messages.Deadlocked{},
	messages.Released{}, messages.Lost{}, messages.Cancelled{}, messages.Failed{},
	messages.Release{}, messages.Cancel{}, messages.Revoke{},
	messages.ReadQueue{}, messages.SendRevokeRequest{}, messages.Break{}, messages.SetPermits{},
	messages.Queue{}, messages.RevokeRequestSent{}, messages.Broken{}, messages.PermitsSet{})

// put makes a message, of which a pointer is given, what the message x says. It reports whether x can say that.
func put(x proto.Message, what any, text func(string) string) bool {
	from := reflect.ValueOf(what)
	if from.Kind() != reflect.Pointer || from.IsNil() || known[from.Type().Elem().Name()] != from.Type().Elem() {
		return false
	}
	m := x.ProtoReflect()
	fields := m.Descriptor().Oneofs().ByName("what").Fields()
	for i := range fields.Len() {
		if f := fields.Get(i); string(f.Message().Name()) == from.Type().Elem().Name() {
			convert(m.Mutable(f).Message().Interface(), what, text)
			return true
		}
	}
	return false
}

// what gives a pointer to the message that x says; nil for one that this program does not know.
func what(x proto.Message) any {
	m := x.ProtoReflect()
	f := m.WhichOneof(m.Descriptor().Oneofs().ByName("what"))
	if f == nil || known[string(f.Message().Name())] == nil {
		return nil
	}
	to := reflect.New(known[string(f.Message().Name())]).Interface()
	convert(to, m.Get(f).Message().Interface(), asItIs)
	return to
}
