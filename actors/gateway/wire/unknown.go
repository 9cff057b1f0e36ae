package wire

import (
	"fmt"

	"google.golang.org/protobuf/encoding/protowire"
	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/reflect/protoreflect"
)

// Unknown names the first field of a message, at any depth, that this program does not know: the
// other side is newer, or sends garbage. It is empty where every field is known.
func Unknown(m proto.Message) string { return unknownIn(m.ProtoReflect()) }

func unknownIn(m protoreflect.Message) (found string) {
	if raw := m.GetUnknown(); len(raw) > 0 {
		number, _, _ := protowire.ConsumeTag(raw)
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
