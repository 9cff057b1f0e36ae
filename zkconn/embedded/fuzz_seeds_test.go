package embedded

import "encoding/binary"

// record writes a record's fields.
func recordOf(write func(*encoder)) []byte {
	var e encoder
	write(&e)
	return e.buf
}

// greetingOf is the first request of a connection.
func greetingOf(session int64, password []byte) []byte {
	return recordOf(func(e *encoder) {
		e.int32(0)
		e.int64(0)
		e.int32(10_000)
		e.int64(session)
		e.bytes(password)
		e.bool(false)
	})
}

// seedBodies has a record for every operation that takes one.
func seedBodies() map[Op][]byte {
	bodies := map[Op][]byte{}
	make := func(write func(*encoder), ops ...Op) {
		for _, op := range ops {
			bodies[op] = recordOf(write)
		}
	}
	make(func(e *encoder) { createBody(e, "/a", 0) }, OpCreate, OpCreate2)
	make(func(e *encoder) { createBody(e, "/a", 4) }, OpCreateContainer)
	make(func(e *encoder) { createBody(e, "/a", 5); e.int64(1000) }, OpCreateTTL)
	make(func(e *encoder) { e.text("/a"); e.int32(-1) }, OpDelete, OpCheck, OpAddWatch, OpDeleteContainer)
	make(func(e *encoder) { e.text("/a"); e.int32(int32(anyWatcher)) }, OpCheckWatches, OpRemoveWatches)
	make(func(e *encoder) { e.text("/a"); e.bool(true) }, OpExists, OpGetData, OpGetChildren, OpGetChildren2)
	make(func(e *encoder) { e.text("/a"); e.bytes([]byte("data")); e.int32(0) }, OpSetData)
	make(func(e *encoder) { e.text("/a") }, OpGetACL, OpSync, OpGetEphemerals, OpGetAllChildrenNumber)
	make(func(e *encoder) { e.text("/a"); e.acl(readACL); e.int32(-1) }, OpSetACL)
	make(func(e *encoder) { e.text("a"); e.text("b"); e.text("c"); e.int64(-1) }, OpReconfig)
	make(func(e *encoder) { e.int32(0); e.text("digest"); e.bytes([]byte("me:secret")) }, OpAuth)
	make(func(e *encoder) { e.bytes([]byte("token")) }, OpSASL)
	make(func(e *encoder) { e.int32(10_000) }, OpCreateSession)
	make(func(e *encoder) { watchLists(e, 3) }, OpSetWatches)
	make(func(e *encoder) { watchLists(e, 5) }, OpSetWatches2)
	make(func(e *encoder) {
		e.multiHeader(OpGetData, false, -1)
		e.text("/a")
		e.bool(false)
		e.multiHeader(OpGetChildren, false, -1)
		e.text("/")
		e.bool(false)
		e.multiHeader(opError, true, -1)
	}, OpMultiRead)
	make(func(e *encoder) {
		e.multiHeader(OpCreate, false, -1)
		createBody(e, "/a", 2)
		e.multiHeader(OpCreateTTL, false, -1)
		createBody(e, "/t", 6)
		e.int64(1)
		e.multiHeader(OpSetData, false, -1)
		e.text("/")
		e.bytes(nil)
		e.int32(-1)
		e.multiHeader(OpCheck, false, -1)
		e.text("/zookeeper")
		e.int32(0)
		e.multiHeader(opError, true, -1)
	}, OpMulti)
	return bodies
}

func createBody(e *encoder, path string, flags int32) {
	e.text(path)
	e.bytes([]byte("x"))
	e.acl(openACL)
	e.int32(flags)
}

func watchLists(e *encoder, n int) {
	e.int64(1)
	for range n {
		e.texts([]string{"/a", "/b"})
	}
}

// seedRecords are the records without their operations.
func seedRecords() [][]byte {
	all := [][]byte{greetingOf(0, make([]byte, passwordSize))}
	for _, op := range opcodes {
		all = append(all, seedBodies()[op])
	}
	return all
}

// framed puts the length in front of each.
func framed(frames ...[]byte) (stream []byte) {
	for _, frame := range frames {
		stream = binary.BigEndian.AppendUint32(stream, uint32(len(frame)))
		stream = append(stream, frame...)
	}
	return stream
}

// requestOf is a whole request.
func requestOf(xid int32, op Op, body []byte) []byte {
	return append(recordOf(func(e *encoder) { e.int32(xid); e.int32(int32(op)) }), body...)
}
