package coordinator

// What purposes and alarms say of themselves.

func (p creation) encode(_ *Coordinator, e *encoder, _ uint64) {
	e.text("creation")
	e.num(uint64(p.request), flag(p.batch), flag(p.probes))
	e.op(p.request, p.op)
}

func (t transaction) encode(_ *Coordinator, e *encoder, _ uint64) {
	e.text("transaction")
	e.changes(t.changes)
	e.text(t.exist...)
	e.mark()
	e.num(flag(t.batch))
}

func (p lookingAt) encode(_ *Coordinator, e *encoder, _ uint64) {
	e.text("lookingAt", p.name)
	e.num(uint64(p.request), uint64(p.same.permits), flag(p.same.unwritten))
	e.op(p.request, p.op)
}

func (p lookingAround) encode(_ *Coordinator, e *encoder, _ uint64) {
	e.text("lookingAround")
	e.num(uint64(p.request))
	e.op(p.request, p.op)
}

func (p lookingAhead) encode(_ *Coordinator, e *encoder, _ uint64) {
	e.text("lookingAhead", p.name)
	e.num(uint64(p.request))
	e.op(p.request, p.op)
}

func (p listed) encode(c *Coordinator, e *encoder, id uint64) {
	e.text("listed", p.path)
	e.num(flag(p.of(c, id) != nil))
}

func (p ownReading) encode(_ *Coordinator, e *encoder, _ uint64) {
	e.text("ownReading")
	e.num(uint64(p.request))
	e.op(p.request, p.op)
}

func (p removalOf) encode(_ *Coordinator, e *encoder, _ uint64) {
	e.text("removalOf", p.name)
	e.num(uint64(p.request))
	e.op(p.request, p.op)
}

func (p arrivalsRead) encode(_ *Coordinator, e *encoder, _ uint64) {
	e.text("arrivalsRead", p.path, p.node)
}

func (p reuseCheck) encode(_ *Coordinator, e *encoder, _ uint64) {
	e.text("reuseCheck", p.path, p.node)
	e.num(uint64(p.kept), uint64(p.next))
}

func (p heartbeat) encode(_ *Coordinator, e *encoder, _ uint64) { e.text("heartbeat", p.path, p.node) }

func (p finding) encode(_ *Coordinator, e *encoder, _ uint64) {
	e.text("finding")
	e.num(uint64(p.request), flag(p.cleaning))
	e.op(p.request, p.op)
}

func (creation) ignored(*Coordinator, uint64) bool    { return false }
func (transaction) ignored(*Coordinator, uint64) bool { return false }

// waitsWith tells whether a request still waits as it did in an operation.
func (c *Coordinator) waitsWith(id RequestID, op uint64) bool {
	r := c.requests[id]
	return r != nil && r.wait != nil && r.wait.op == op
}

func (p lookingAt) ignored(c *Coordinator, _ uint64) bool     { return !c.waitsWith(p.request, p.op) }
func (p lookingAround) ignored(c *Coordinator, _ uint64) bool { return !c.waitsWith(p.request, p.op) }
func (p lookingAhead) ignored(c *Coordinator, _ uint64) bool  { return !c.waitsWith(p.request, p.op) }

func (p listed) ignored(c *Coordinator, id uint64) bool { return p.of(c, id) == nil }

func (p ownReading) ignored(c *Coordinator, _ uint64) bool {
	r := c.requests[p.request]
	return r == nil || r.own.phase != watched || r.own.op != p.op
}

func (p finding) ignored(c *Coordinator, _ uint64) bool {
	r := c.requests[p.request]
	return r == nil || !p.cleaning && (r.looking.op != p.op || r.life == ended)
}

func (removalOf) ignored(*Coordinator, uint64) bool    { return false }
func (arrivalsRead) ignored(*Coordinator, uint64) bool { return false }
func (reuseCheck) ignored(*Coordinator, uint64) bool   { return false }
func (heartbeat) ignored(*Coordinator, uint64) bool    { return false }

// TimerKind tells what a timer is for.
type TimerKind uint8

// The kinds of timers.
const (
	NoTimer TimerKind = iota
	// RowTimer sends creates that wait for others, DeletesTimer deletes.
	RowTimer
	DeletesTimer
	// ReadTimer reads the nodes of holders.
	ReadTimer
	// RetryTimer removes what could not be removed yet.
	RetryTimer
	// RetentionTimer lets a retained node go.
	RetentionTimer
	// BeatTimer is that of the next heartbeat, LateTimer of one without an answer.
	BeatTimer
	LateTimer
	// LeaseTimer looks at the lease.
	LeaseTimer
	// LookTimer looks for a node once more.
	LookTimer
)

// Timers tells which timers are set, and what for.
func (c *Coordinator) Timers(yield func(timer uint64, kind TimerKind) bool) {
	for timer, what := range c.epoch.timers {
		if !yield(timer, what.kind()) {
			return
		}
	}
}

func (rowDue) kind() TimerKind        { return RowTimer }
func (deletesDue) kind() TimerKind    { return DeletesTimer }
func (readsDue) kind() TimerKind      { return ReadTimer }
func (retryDue) kind() TimerKind      { return RetryTimer }
func (retentionOver) kind() TimerKind { return RetentionTimer }
func (beatDue) kind() TimerKind       { return BeatTimer }
func (beatLate) kind() TimerKind      { return LateTimer }
func (leaseDue) kind() TimerKind      { return LeaseTimer }
func (lookAgain) kind() TimerKind     { return LookTimer }

func (d rowDue) encode(e *encoder)        { e.text("row", d.path, d.name) }
func (d deletesDue) encode(e *encoder)    { e.text("deletes", d.path, d.name) }
func (readsDue) encode(e *encoder)        { e.text("reads") }
func (d retryDue) encode(e *encoder)      { e.text("retry"); e.num(uint64(d.request)) }
func (d retentionOver) encode(e *encoder) { e.text("retention"); e.num(uint64(d.request)) }
func (beatDue) encode(*encoder)           {} // heartbeats go on for ever
func (beatLate) encode(*encoder)          {}
func (leaseDue) encode(*encoder)          {}

func (p lookAgain) encode(e *encoder) {
	e.text("look")
	e.num(uint64(p.request))
	e.op(p.request, p.op)
}
