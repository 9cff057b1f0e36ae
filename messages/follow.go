package messages

// Follow asks a session actor to tell who contends for a lock, now and after every change. The
// sender gets a Queue at once, one whenever somebody has come or gone, and one when the connection
// is back after a loss. A change while a Queue is being read is in the next. It ends when the
// sender does, or with Unfollow. A Queue with a Reason is the last, and says why: SessionClosed, or
// that the lock path may not be read.
//
// Each follower costs the server a watch on the lock path, and a read of the whole queue at every
// change: the herd effect, for as many as follow.
type Follow struct{ Path string }

// Unfollow ends the Follow of the same path.
type Unfollow struct{ Path string }
