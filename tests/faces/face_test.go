package faces

import (
	"testing"
	"time"

	"github.com/turnstile-locks/turnstile/actors/actorstest"
	"github.com/turnstile-locks/turnstile/messages"
	"github.com/turnstile-locks/turnstile/tests/scene"
)

// face is a way to ask for locks.
type face struct {
	name string
	open func(t *testing.T, connect string, timeout time.Duration) asker
}

var faces = []face{{"locks", openClient}, {"actors", openStage}, {"gateway", openGateway}}

// eachFace tells a story by every face, on every kind of server.
func eachFace(t *testing.T, tell func(t *testing.T, f face, at *scene.Servers)) {
	t.Parallel()
	for _, f := range faces {
		t.Run(f.name, func(t *testing.T) {
			scene.EachServer(t, func(t *testing.T, at *scene.Servers) { tell(t, f, at) })
		})
	}
}

// asker asks for locks by one face, over one ZooKeeper session.
type asker interface {
	ask(t *testing.T, want messages.Acquire) request
	// session is the id of the ZooKeeper session.
	session() int64
	// close ends what asks, in order.
	close(t *testing.T)
}

// request is one request for a lock.
type request interface {
	// recorder follows it.
	recorder() *actorstest.Recorder
	// hold waits until it holds, and finds that the face says of the grant what the notice says.
	hold(t *testing.T) *messages.Held
	// giveBack begins to give the lock back.
	giveBack()
	// giveUp ends the wish for it. A holder that gives back does not hear of it.
	giveUp()
	// asked waits until its holder hears that somebody wants the lock.
	asked(t *testing.T)
	// resumed finds that its holder goes on behind a cut.
	resumed(t *testing.T)
	// revoke asks for the lock in the way of the face. A waiter takes no notice.
	revoke(t *testing.T)
	// rests finds that the face has said nothing since hold, or since the request was made.
	rests(t *testing.T)
	// ended waits for the end, and finds that the face gives err as its reason: nil for a lock that
	// was given back.
	ended(t *testing.T, err error)
	// why is the face's explanation of a request that has failed.
	why() string
}
