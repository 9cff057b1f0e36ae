package interop

import (
	"context"
	"testing"

	"github.com/asynkron/protoactor-go/actor"
	"github.com/stretchr/testify/require"

	"github.com/turnstile-locks/turnstile/actors"
	"github.com/turnstile-locks/turnstile/locks"
	"github.com/turnstile-locks/turnstile/messages"
)

// turnstileActors are Turnstile's lock actors, with the names of others.
func turnstileActors(naming messages.Naming) goClient {
	modes := map[Recipe]messages.Mode{Mutex: messages.Exclusive, Read: messages.Read, Write: messages.Write}
	return func(t *testing.T, job Job) func(Recipe) acquire {
		t.Helper()
		client := openTurnstile(t, job.Connect)
		return func(recipe Recipe) acquire {
			require.Contains(t, modes, recipe)
			want := messages.Acquire{Path: job.Path, Mode: modes[recipe], Naming: naming}
			return func(ctx context.Context) (held, error) { return spawnLock(client, want).held(ctx) }
		}
	}
}

// lockActor is one request, followed by a recorder.
type lockActor struct {
	root     *actor.RootContext
	pid      *actor.PID
	recorder *actors.Recorder
}

func spawnLock(client *locks.Client, want messages.Acquire) lockActor {
	l := lockActor{root: client.System().Root, recorder: actors.NewRecorder(client.System())}
	if want.Owner == "" {
		want.Owner = l.recorder.PID().Id // without a parent they all would have the same
	}
	l.pid = l.root.Spawn(actors.NewLock(client.Session(), want, actors.WithObserver(l.recorder.PID())))
	return l
}

// held waits until it is.
func (l lockActor) held(ctx context.Context) (held, error) {
	granted, err := l.recorder.Await(ctx, messages.StateHeld)
	return held{node: granted.Node, release: l.release}, err
}

func (l lockActor) release(ctx context.Context) error {
	defer l.recorder.Close()
	l.root.Send(l.pid, &messages.Release{})
	_, err := l.recorder.Await(ctx, messages.StateReleased)
	return err
}
