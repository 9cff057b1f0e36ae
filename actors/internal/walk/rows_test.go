package walk

import (
	"testing"

	"github.com/stretchr/testify/assert"

	"github.com/turnstile-locks/turnstile/actors/machine"
	"github.com/turnstile-locks/turnstile/messages"
)

// everyRowIsReached fails when a row of the machine's table fires in no history, though the model could reach it; and
// when one does of which it is said that it cannot.
func everyRowIsReached(t *testing.T, fired map[*machine.Row]bool) {
	type name struct {
		from messages.State
		on   machine.Kind
		when string
	}
	reached := map[name]bool{}
	for row := range fired {
		reached[name{row.From, row.On, row.If.Name}] = true
	}
	for _, row := range machine.Rows() {
		does := reached[name{row.From, row.On, row.If.Name}]
		if why := beyond(row); why == "" {
			assert.True(t, does, "no history reaches %v, %v [%s] → %v", row.From, row.On, row.If.Name, row.To)
		} else {
			assert.False(t, does,
				"a history reaches %v, %v [%s] → %v, though %s", row.From, row.On, row.If.Name, row.To, why)
		}
	}
}

// beyond says why the model does not reach a row.
func beyond(row machine.Row) string {
	guard := row.If.Name
	switch {
	case row.On == machine.Refused:
		return "nothing is refused"
	case row.To == messages.StateFailed && row.Do.Name == "done":
		return "only what was refused or exhausted fails after a delete"
	case guard == "sequence exhausted", guard == "found, sequence exhausted":
		return "the counter does not come to its end"
	case guard == "found, was holding, lease over":
		return "the lock actor looks at the clock first"
	case row.On == machine.Expired && guard == "was holding":
		return "the lease is over before the servers end the session"
	}
	return ""
}
