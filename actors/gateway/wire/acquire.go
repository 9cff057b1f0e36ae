package wire

import (
	"fmt"
	"strings"
	"time"

	"google.golang.org/protobuf/encoding/protowire"
	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/reflect/protoreflect"

	"github.com/turnstile-locks/turnstile/messages"
)

// FromAcquire gives a request as it crosses. Its texts may be invalid: then it cannot be sent.
func FromAcquire(a messages.Acquire) *Acquire {
	x := &Acquire{DetectionRoot: a.Deadlocks.Root, DetectionEvery: int64(a.Deadlocks.Every)}
	convert(x, &a, asItIs)
	return x
}

// Messages gives the request. Unknown modes and namings stay unknown: actors.CheckAcquire refuses
// them.
func (x *Acquire) Messages() (a messages.Acquire) {
	convert(&a, x, asItIs)
	a.Deadlocks = messages.Detection{Root: x.GetDetectionRoot(), Every: time.Duration(x.GetDetectionEvery())}
	return a
}

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
