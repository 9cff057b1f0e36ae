package locks

import (
	"errors"
	"strings"
	"testing"
	"time"
	"unicode"

	"github.com/stretchr/testify/require"

	"github.com/turnstile-locks/turnstile/messages"
)

// TestErrorsQuoteOthersTexts: what others wrote into nodes, or answered, moves no cursor in an error or a log.
func TestErrorsQuoteOthersTexts(t *testing.T) {
	const nasty = "nasty\x1b[2J\u202e\nline"
	c := messages.Contender{Path: "/" + nasty, Node: nasty, Host: nasty, Label: nasty, Who: nasty, PID: 7, Since: time.Unix(0, 0)}
	member := messages.Member{Who: nasty, Keeps: c, Waits: c}
	holds := member
	holds.Keeps.Node, holds.Keeps.Holds = "other"+nasty, true
	for name, err := range map[string]error{
		"error": &Error{Op: "lock", Path: c.Path, Node: nasty, Behind: c, Reason: nasty, Detail: nasty, Err: ErrFailed},
		"deadlock": &DeadlockError{messages.Deadlock{Members: []messages.Member{member, holds,
			{Keeps: messages.Contender{Path: nasty, Node: "k"}, Waits: c}}}},
		"mark":    errors.New(Mark{State: nasty, Host: nasty, Label: nasty}.String()),
		"refusal": refused("queue of", c.Path, messages.Refusal{Reason: nasty, Detail: nasty}),
	} {
		t.Run(name, func(t *testing.T) {
			require.Contains(t, err.Error(), "nasty")
			require.False(t, strings.ContainsFunc(err.Error(), func(r rune) bool { return !unicode.IsPrint(r) }), "%q", err)
		})
	}
}
