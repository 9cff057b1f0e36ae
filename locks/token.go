package locks

import "github.com/turnstile-locks/turnstile/messages"

// Token is a fencing token: of two grants of one lock path the later has the greater one. See messages.Token.
type Token = messages.Token
