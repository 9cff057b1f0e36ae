package board

import (
	"cmp"
	"fmt"
	"strconv"

	"github.com/turnstile-locks/turnstile/messages"
)

// Name is the name under which a contender is shown: its label, or its machine and process, or else
// its session, which servers may not tell either. Long texts of others are cut short.
func Name(c messages.Contender) string {
	c = shortened(c)
	if c.Host == "" && c.Label == "" && c.Session == 0 {
		return "not readable"
	}
	return cmp.Or(c.Label, process(c), fmt.Sprintf("session 0x%x", c.Session))
}

// process is a contender's machine and process as one word; "" where the node does not tell them.
func process(c messages.Contender) string {
	if c.Host == "" {
		return ""
	}
	return c.Host + ":" + strconv.Itoa(c.PID)
}

// tokenText writes a token as decimal text: it is too great for a number of JavaScript's.
func tokenText(t messages.Token) string {
	if t == 0 {
		return ""
	}
	return t.String()
}
