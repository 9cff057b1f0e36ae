package sasl

import (
	"strings"
	"testing"

	"github.com/turnstile-locks/turnstile/tests/patient"
	"github.com/turnstile-locks/turnstile/tests/rig"
	"github.com/turnstile-locks/turnstile/tests/stories"
	"github.com/turnstile-locks/turnstile/zkconn/embedded"
)

// story is one thing that is shown.
type story struct {
	name string
	tell func(t *testing.T, at *place)
}

// place is the place of a story: servers, and a chroot of the story's own.
type place struct {
	addrs    string // of all servers
	one      string // of one of them
	root     string
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

// tell tells the stories on every kind of server. Some wait long for next to nothing, so several are told at once.
func tell(t *testing.T, all []story) {
	stories.Each(t, kinds, func(t *testing.T, kind *stories.Kind, addrs string) {
		one, _, _ := strings.Cut(addrs, ",")
		for _, s := range all {
			t.Run(s.name, func(t *testing.T) {
				t.Parallel()
				s.tell(t, &place{addrs: addrs, one: one, root: stories.Chroot(), required: kind.Required})
			})
		}
	})
}

// connect is the connect string for Open.
func (p *place) connect() string { return p.addrs + p.root }

// proxy stands before one of the servers.
func (p *place) proxy(t *testing.T) *rig.Proxy { return rig.NewProxy(t, p.one) }

// Helpers that all tests of behaviour share, in any package.
var (
	open       = patient.Open
	recorder   = patient.Recorder
	deadline   = patient.Deadline
	eventually = patient.Eventually
)
