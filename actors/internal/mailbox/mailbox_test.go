package mailbox

import (
	"testing"

	"github.com/asynkron/protoactor-go/actor"
	"github.com/stretchr/testify/require"
)

// taken notes what a mailbox has taken.
type taken struct{ all []any }

func (t *taken) InvokeSystemMessage(message any) { t.all = append(t.all, message) }
func (t *taken) InvokeUserMessage(message any)   { t.all = append(t.all, message) }
func (t *taken) EscalateFailure(reason, _ any)   { t.all = append(t.all, reason) }

// TestMailboxBeforeItsStart: an actor's name is registered before its mailbox knows who takes messages. Messages that
// come before then, or before actor.Started does, are taken after actor.Started.
func TestMailboxBeforeItsStart(t *testing.T) {
	by := &taken{}
	m := New()
	m.PostUserMessage("before it knows who takes it")
	m.RegisterHandlers(by, nil)
	m.PostUserMessage("before it is started")
	m.PostSystemMessage(&actor.Started{})
	require.Empty(t, by.all)
	m.Start()
	m.PostUserMessage("after")
	require.Equal(t, []any{&actor.Started{}, "before it knows who takes it", "before it is started", "after"}, by.all)
}
