package actors

import (
	"fmt"
	"testing"

	"github.com/asynkron/protoactor-go/actor"
	"github.com/stretchr/testify/require"

	"github.com/turnstile-locks/turnstile/actors"
	"github.com/turnstile-locks/turnstile/messages"
	"github.com/turnstile-locks/turnstile/tests/scene"
)

// crew is an actor with lock actors, half of which hold. It follows their queues. All end with their owner, too.
type crew struct {
	session *actors.Session
	owner   *actor.PID
	queues  map[string]bool // that it has been told of
	begun   chan struct{}   // gets a signal for each grant, and for each queue that it follows
	gone    chan struct{}   // and for each lock actor that has ended
}

const paths = 10

func (c *crew) Receive(ctx actor.Context) {
	switch msg := ctx.Message().(type) {
	case *actor.Started:
		for n := range 2 * paths {
			path := fmt.Sprintf("/crew-%d", n%paths)
			if n < paths { // once, so that none is left to be taken when the crew has ended
				ctx.Request(c.session.PID(), &messages.Follow{Path: path})
			}
			ctx.Spawn(actors.NewLock(c.session, messages.Acquire{Path: path}, actors.WithOwner(c.owner)))
		}
	case *messages.Held:
		c.begun <- struct{}{}
	case *messages.Queue: // its Follow has been taken
		if !c.queues[msg.Path] {
			c.queues[msg.Path] = true
			c.begun <- struct{}{}
		}
	case *actor.Terminated:
		c.gone <- struct{}{}
	}
}

// TestShutdownMakesNoDeadLetters: a program stops its actors, waits for that, and closes its session; or it closes the
// session first. protoactor has nothing to log.
func TestShutdownMakesNoDeadLetters(t *testing.T) {
	zk := scene.OnEmbedded(t)
	for name, stop := range map[string]func(s *scene.Stage, crew, owner *actor.PID, gone chan struct{}){
		"the actor, the session": func(s *scene.Stage, crew, _ *actor.PID, _ chan struct{}) {
			require.NoError(t, s.System.Root.StopFuture(crew).Wait())
			require.NoError(t, s.Session.Close(scene.Deadline(t)))
		},
		"the session, the actor": func(s *scene.Stage, crew, _ *actor.PID, _ chan struct{}) {
			require.NoError(t, s.Session.Close(scene.Deadline(t)))
			require.NoError(t, s.System.Root.PoisonFuture(crew).Wait())
		},
		"the owner, the actor, the session": func(s *scene.Stage, crew, owner *actor.PID, gone chan struct{}) {
			require.NoError(t, s.System.Root.StopFuture(owner).Wait())
			for range 2 * paths {
				<-gone
			}
			require.NoError(t, s.System.Root.StopFuture(crew).Wait())
			require.NoError(t, s.Session.Close(scene.Deadline(t)))
		},
	} {
		t.Run(name, func(t *testing.T) {
			letters := make(chan string, 100)
			scene.Cleanup(t, func() { // after the session and the system
				for len(letters) > 0 {
					t.Error(<-letters)
				}
			})
			s := scene.NewStage(t, zk.Connect())
			s.System.EventStream.Subscribe(func(event any) {
				if letter, is := event.(*actor.DeadLetterEvent); is {
					if _, quiet := letter.Message.(actor.IgnoreDeadLetterLogging); !quiet {
						select {
						case letters <- fmt.Sprintf("%T to %v", letter.Message, letter.PID):
						default: // there are enough
						}
					}
				}
			})
			owner := s.System.Root.Spawn(actor.PropsFromFunc(func(actor.Context) {}))
			c := &crew{session: s.Session, owner: owner, queues: map[string]bool{}, begun: make(chan struct{}, 3*paths),
				gone: make(chan struct{}, 2*paths)}
			pid := s.System.Root.Spawn(actor.PropsFromProducer(func() actor.Actor { return c }))
			for range 2 * paths {
				<-c.begun
			}
			stop(s, pid, owner, c.gone)
		})
	}
}
