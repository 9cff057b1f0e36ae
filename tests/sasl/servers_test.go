package sasl

import (
	"testing"

	"github.com/turnstile-locks/turnstile/tests/patient"
	"github.com/turnstile-locks/turnstile/tests/rig"
	"github.com/turnstile-locks/turnstile/tests/stories"
	"github.com/turnstile-locks/turnstile/zkconn/embedded"
)

// story is one thing that is shown.
type story = stories.Story[*place]

// place is the place of a story.
type place struct {
	*stories.Servers
	required bool // nobody is let in without SASL
}

var jaas = rig.WithJAAS(rig.DigestJAAS(passwords))

var kinds = []*stories.Kind{
	{Name: "embedded", Start: stories.Embedded(embedded.WithSASL(passwords))},
	{Name: "embedded, required", Required: true,
		Start: stories.Embedded(embedded.WithSASLRequired(), embedded.WithSASL(passwords))},
	{Name: "standalone", Real: true, Start: stories.Standalone(jaas)},
	{Name: "standalone, required", Real: true, Required: true,
		Start: stories.Standalone(rig.WithConfig("sessionRequireClientSASLAuth", "true"), jaas)},
	{Name: "ensemble, enforced", Real: true, Required: true,
		Start: stories.Ensemble(3, jaas,
			rig.WithConfig("enforce.auth.enabled", "true"), rig.WithConfig("enforce.auth.schemes", "sasl"),
			rig.WithConfig("syncLimit", "100"))}, // 20 s: a stall is no reason to elect
}

// tell tells the stories on every kind of server.
func tell(t *testing.T, all []story) {
	stories.Tell(t, kinds, all, func(_ *testing.T, kind *stories.Kind, zk *stories.Servers) *place {
		return &place{zk, kind.Required}
	})
}

// Helpers that all tests of behaviour share, in any package.
var (
	open       = patient.Open
	recorder   = patient.Recorder
	deadline   = patient.Deadline
	eventually = patient.Eventually
	lock       = patient.LockAt
	unlock     = patient.GiveBack
	queue      = patient.Queue
)
