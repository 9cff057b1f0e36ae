package zkconn

import (
	"bytes"
	"encoding/binary"

	"github.com/go-zookeeper/zk"
)

// Container nodes through the library's Create.
//
// The library's Create takes zk.FlagContainer and makes a plain persistent node of it, silently (its issue 165), for
// the server looks at the operation and not at the flag. Its CreateContainer sends the right operation, but reads its
// reply also when the call was given up because the connection is being closed, while the receiving goroutine may
// still be writing it: a data race in every Close with such a call under way. So we call Create with the flag, which
// nothing else here does, and the transport puts the right operation into the frame.

// nameContainerOp gives the frame as a create-container request where it is a create with the container flag. It
// changes a copy: a Writer must not modify what it is given.
func nameContainerOp(frame []byte) []byte {
	if requestOp(frame) != opCreate {
		return frame
	}
	flags := int32(binary.BigEndian.Uint32(frame[len(frame)-4:]))
	if flags != zk.FlagContainer {
		return frame
	}
	frame = bytes.Clone(frame)
	binary.BigEndian.PutUint32(frame[8:], opCreateContainer)
	return frame
}
