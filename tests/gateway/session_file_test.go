package gateway

import (
	"path/filepath"
	"testing"

	"github.com/asynkron/protoactor-go/actor"
	"github.com/stretchr/testify/require"

	"github.com/turnstile-locks/turnstile/actors"
	"github.com/turnstile-locks/turnstile/actors/gateway"
	"github.com/turnstile-locks/turnstile/actors/gateway/wire"
	"github.com/turnstile-locks/turnstile/tests/patient"
)

// TestSessionFileIsRefused: a process that is started again after a crash would close its
// predecessor's session, whose promises to other nodes still run.
func TestSessionFileIsRefused(t *testing.T) {
	s := newStage(t, patient.Session)
	file := actors.WithSessionFile(filepath.Join(t.TempDir(), "session"))
	session := s.inside.open(t, s.ensemble.address(), patient.Session, file)
	_, err := gateway.Spawn(s.inside.system, session, "with-a-file")
	require.ErrorIs(t, err, gateway.ErrSessionFile)

	pid := s.inside.system.Root.Spawn(gateway.New(session))
	t.Cleanup(func() { s.inside.system.Root.Stop(pid) })
	from, told := s.outside.listener(t)
	at := actor.NewPID(s.inside.road.address(), pid.Id)
	s.outside.system.Root.RequestWithCustomSender(at, asked(func(*wire.Request) {}), from)
	reply := await(t, told).message.(*wire.Reply)
	require.Equal(t, wire.Standing_REFUSED, reply.Standing)
	require.Contains(t, reply.Detail, gateway.ErrSessionFile.Error())
}
