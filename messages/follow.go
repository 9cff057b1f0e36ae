package messages

// Follow asks a session actor to tell, again and again, who contends for a lock: the sender gets a Queue at once,
// one whenever somebody has come or gone, and one when the connection is back after a loss. What changes while a
// Queue is being read is in the next. It ends when the sender does, or with Unfollow; a Queue with a Reason is the
// last, and says why: SessionClosed, or that the lock path may not be read.
//
// Each follower costs the server a watch on the lock path, and a read of the whole queue at every change: the herd
// effect, for as many as follow.
type Follow struct{ Path string }

// Unfollow ends what Follow of the same path has begun.
type Unfollow struct{ Path string }
