package machine_test

import "github.com/turnstile-locks/turnstile/actors/machine"

// isEnd tells whether an effect is the notice of an end.
func isEnd(d machine.Do) bool { return d >= machine.TellReleased && d <= machine.TellFailed }
