package mailbox

// Quiet is a part of messages that are dropped silently when the actor that they are sent to has ended.
type Quiet struct{}

// IgnoreDeadLetterLogging keeps a dropped message out of the log.
func (Quiet) IgnoreDeadLetterLogging() {}
