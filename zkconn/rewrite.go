package zkconn

import (
	"bytes"
	"encoding/binary"

	"github.com/go-zookeeper/zk"
)

// Watches without the library's watch table.
//
// For every call the library's GetW enters a channel in a table that only an event empties. After a
// reconnect it sends the table's watches again with a zxid that it reads without a lock (its PR
// 35), a data race. So the table stays empty: GetWatched, ChildrenWatched and ExistsWatched call
// the library's plain operations, and the transport sets the watch byte in the frame. The server's
// event reaches the sink through the library's event callback.
//
// A plain Get of the same path that passes meanwhile carries the watch byte as well, which does no
// harm: watches of one session on one path are one.

// Container nodes through the library's Create.
//
// The library's Create silently makes a persistent node of zk.FlagContainer (its issue 165): the
// server looks at the operation, not at the flag. Its CreateContainer sends the right one, but
// after a Close reads a reply that the receiving goroutine may still be writing: a data race. So we
// call Create with the flag, and the transport puts the right operation into the frame.

// nameContainerOp gives the frame as a create-container request where it is a create with the
// container flag: a copy, because a Writer must not modify its argument.
func nameContainerOp(frame []byte) []byte {
	if _, op := requestHead(frame); op != opCreate {
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

// withoutReadOnly adds to a connect request that no read-only server will do. Without it, as before
// ZooKeeper 3.4, a server logs a warning ("Connection request from old client"), and servers wait
// for a slow log.
func withoutReadOnly(frame []byte) []byte {
	const fixed = 4 + 8 + 4 + 8 + lengthSize // up to the password
	body := len(frame) - lengthSize
	if body < fixed || int(binary.BigEndian.Uint32(frame)) != body {
		return frame
	}
	if password := int(binary.BigEndian.Uint32(frame[fixed:])); body != fixed+password {
		return frame
	}
	return withLength(append(bytes.Clone(frame), 0))
}
