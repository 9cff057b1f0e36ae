package rig

import "encoding/binary"

// codeThrottled is KeeperException.Code.THROTTLEDOP.
const codeThrottled = -127

// A request that is throttled is replaced on its way by a read of the root, so that the server
// answers at its place, with the zxid that it has then. The reply is cut to its header, which says
// that the request was throttled. A server sends the same that passes a throttled request through
// all its stages without carrying it out (FinalRequestProcessor).

// standIn asks whether the root exists.
func standIn(xid int32) []byte {
	const root = "/"
	body := binary.BigEndian.AppendUint32(nil, uint32(xid))
	body = binary.BigEndian.AppendUint32(body, uint32(OpExists))
	body = binary.BigEndian.AppendUint32(body, uint32(len(root)))
	body = append(append(body, root...), 0) // and no watch
	return framed(body)
}

// throttledReply makes it of the answer to the stand-in.
func throttledReply(frame []byte) []byte {
	r := newReader(frame)
	xid, zxid, code := r.int32(), r.int64(), int32(codeThrottled)
	if r.err != nil {
		return frame // no reply that we know
	}
	header := binary.BigEndian.AppendUint32(nil, uint32(xid))
	header = binary.BigEndian.AppendUint64(header, uint64(zxid))
	return framed(binary.BigEndian.AppendUint32(header, uint32(code)))
}
