package wire

import (
	"fmt"
	"reflect"
	"strings"

	"google.golang.org/protobuf/encoding/protowire"
	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/reflect/protoreflect"

	"github.com/turnstile-locks/turnstile/messages"
)

// FromAcquire gives a request as it crosses.
func FromAcquire(a messages.Acquire) *Acquire {
	x := &Acquire{}
	eachField(reflect.ValueOf(x).Elem(), reflect.ValueOf(&a).Elem(), "", func(crosses, asked reflect.Value) {
		crosses.Set(asked.Convert(crosses.Type()))
	})
	return x
}

// Messages gives the request. Unknown modes and namings stay unknown: actors.CheckAcquire refuses
// them.
func (x *Acquire) Messages() (a messages.Acquire) {
	if x == nil {
		return a
	}
	eachField(reflect.ValueOf(x).Elem(), reflect.ValueOf(&a).Elem(), "", func(crosses, asked reflect.Value) {
		if crosses.Kind() == reflect.Uint32 {
			crosses = reflect.ValueOf(small(uint32(crosses.Uint())))
		}
		asked.Set(crosses.Convert(asked.Type()))
	})
	return a
}

// eachField pairs each field of a request with the field of the message that has its name. Those of a struct have the
// name of its type in front: Deadlocks.Root crosses as DetectionRoot.
func eachField(message, request reflect.Value, prefix string, do func(crosses, asked reflect.Value)) {
	for i := range request.NumField() {
		f := request.Type().Field(i)
		if f.Type.Kind() == reflect.Struct {
			eachField(message, request.Field(i), f.Type.Name(), do)
		} else {
			do(message.FieldByName(prefix+f.Name), request.Field(i))
		}
	}
}

// small gives a number as a byte. A number that does not fit becomes 255, which is unknown, too.
func small(n uint32) uint8 { return uint8(min(n, 255)) }

// retired are the fields of an Acquire that requesters of earlier versions may set.
var retired = map[protowire.Number]string{11: "sticky", 12: "cohort", 14: "reentry", 21: "max_waiters"}

// Unknown names the first field of a message, at any depth, that this program does not know: the
// other side is newer, or sends garbage. It is empty where every field is known.
func Unknown(m proto.Message) string { return unknownIn(m.ProtoReflect()) }

func unknownIn(m protoreflect.Message) (found string) {
	if raw := m.GetUnknown(); len(raw) > 0 {
		number, _, _ := protowire.ConsumeTag(raw)
		if name := retired[number]; name != "" && m.Descriptor() == (*Acquire)(nil).ProtoReflect().Descriptor() {
			return fmt.Sprintf("%s (field %d of %s) is not served any more", name, number, m.Descriptor().FullName())
		}
		return fmt.Sprintf("field %d of %s is not known here", number, m.Descriptor().FullName())
	}
	m.Range(func(field protoreflect.FieldDescriptor, v protoreflect.Value) bool {
		switch {
		case field.Message() == nil:
		case field.IsList():
			for i := 0; i < v.List().Len() && found == ""; i++ {
				found = unknownIn(v.List().Get(i).Message())
			}
		default:
			found = unknownIn(v.Message())
		}
		return found == ""
	})
	return found
}

// Valid gives a text as valid UTF-8. A message with any other is never sent: protoactor's remote logs
// that it cannot be serialized, and drops it.
func Valid(text string) string { return strings.ToValidUTF8(text, "\uFFFD") }

func validAll(texts []string) []string {
	var all []string
	for _, text := range texts {
		all = append(all, Valid(text))
	}
	return all
}
