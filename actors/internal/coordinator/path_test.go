package coordinator

import (
	"fmt"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/turnstile-locks/turnstile/actors/machine"
	"github.com/turnstile-locks/turnstile/messages"
)

// TestPathsAreBounded: what is known of lock paths that nobody uses is kept for so many of them, the ones that
// were used last at least; and an answer or a timer that comes late for a path that is forgotten makes none.
func TestPathsAreBounded(t *testing.T) {
	c := New(0, sessionTimeout, DefaultBounds(), 0)
	c.Apply(Connected{sessionTimeout}, At{})
	use := func(id RequestID, path string) (late []Input) {
		sp := NewSpec(&messages.Acquire{Path: path}, fmt.Sprintf("r%d", id), "", noTime)
		order := func(do machine.Do) []Input {
			var answers []Input
			for _, out := range c.Apply(&Order{Request: id, Spec: sp, Effect: machine.Effect{Do: do, Op: 1}}, At{}) {
				if ask, ok := out.(*Ask); ok {
					answers = append(answers, &Reply{ID: ask.ID, Answer: (newTree()).do(ask.Query, 1)})
				}
			}
			return answers
		}
		for _, in := range order(machine.Create) {
			c.Apply(in, At{})
		}
		late = order(machine.List)
		for _, in := range order(machine.Delete) {
			c.Apply(in, At{})
		}
		c.Apply(Ended{id}, At{})
		if id%100 == 0 { // it looks at every path
			require.NoError(t, c.Check())
		}
		return late
	}
	var late []Input
	for n := range knownPaths + 500 {
		late = append(late, use(RequestID(n+1), fmt.Sprintf("/many/%d", n))...)
	}
	require.LessOrEqual(t, len(c.epoch.paths), knownPaths)
	require.NotEmpty(t, late)
	for _, in := range late {
		c.Apply(in, At{})
	}
	require.LessOrEqual(t, len(c.epoch.paths), knownPaths)
	require.Len(t, c.epoch.idle, len(c.epoch.paths))
	require.Zero(t, c.Requests())
}
