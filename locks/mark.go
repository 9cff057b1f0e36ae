package locks

import (
	"encoding/json"
	"fmt"
	"time"

	"github.com/turnstile-locks/turnstile/zkconn"
)

// Mark says who ran for a RunOnce or a RunOnceFor, and when, by the servers' clock, to the
// millisecond.
type Mark struct {
	// State says how far the run has come; "" where the mark was not read.
	State MarkState
	// Host and PID are the machine and the process that ran, Label its label (WithLabel).
	Host  string
	PID   int
	Label string
	// Token is the fencing token that it ran with.
	Token Token
	// Began is when the run had the lock and found the work to be due.
	Began time.Time
	// Written is when the mark was written, by its node.
	Written time.Time
	// For is the instant that it ran for, in UTC; zero for RunOnce.
	For time.Time

	until time.Time // the newest instant that its RunOnceFor goes on to (WithCatchUp)
}

// MarkState is the state of a run by its mark.
type MarkState string

const (
	// MarkDone: the work has been done.
	MarkDone MarkState = "done"
	// MarkBegun: it has been begun, and no more is known (WithMarkFirst, RunOnceFor).
	MarkBegun MarkState = "begun"
	// MarkFailed: it has failed (WithRetryAfter, RunOnceFor).
	MarkFailed MarkState = "failed"
	// MarkNone: there is no mark; nobody has run.
	MarkNone MarkState = "none"
)

// The nodes below the key of a RunOnce: the mark, and the one that is written to ask for the time.
const (
	markName  = "ran"
	clockName = "clock"
)

// markForm is a mark in JSON, as in its node. RunOnce writes neither For nor Until.
type markForm struct {
	Run   MarkState  `json:"run"`
	Host  string     `json:"host"`
	PID   int        `json:"pid"`
	Label string     `json:"label,omitempty"`
	Token Token      `json:"token"`
	Began int64      `json:"began"` // milliseconds since 1970
	For   *time.Time `json:"for,omitempty"`
	Until *time.Time `json:"until,omitempty"`
}

func (m Mark) data() []byte {
	form := markForm{Run: m.State, Host: m.Host, PID: m.PID, Label: m.Label, Token: m.Token, Began: m.Began.UnixMilli()}
	if !m.For.IsZero() {
		form.For = &m.For
	}
	if m.until.After(m.For) {
		form.Until = &m.until
	}
	text, _ := json.Marshal(form) // strings, numbers, and years that are checked
	return text
}

func readMark(data []byte, written time.Time) (Mark, error) {
	if len(data) == 0 {
		return Mark{State: MarkNone}, nil
	}
	var f markForm
	if err := json.Unmarshal(data, &f); err != nil || f.Run == "" || f.Began == 0 {
		return Mark{}, fmt.Errorf("%w: %s is not the mark of a run: %.40q", ErrFailed, markName, data)
	}
	m := Mark{State: f.Run, Host: f.Host, PID: f.PID, Label: f.Label, Token: f.Token, Began: time.UnixMilli(f.Began),
		Written: written}
	if f.For != nil {
		m.For, m.until = f.For.UTC(), f.For.UTC()
	}
	if f.Until != nil {
		m.until = f.Until.UTC()
	}
	return m, nil
}

func instantText(at time.Time) string { return at.UTC().Format(time.RFC3339Nano) }

// String says who ran and when, for people: in words, on one line.
func (m Mark) String() string {
	switch m.State {
	case "":
		return "not read"
	case MarkNone:
		return "nobody"
	}
	who := fmt.Sprintf("process %d on %s", m.PID, zkconn.Shown(m.Host))
	if m.Label != "" {
		who = fmt.Sprintf("%q, %s", m.Label, who)
	}
	at := m.Began.UTC().Format(time.RFC3339)
	if !m.For.IsZero() {
		at += ", for " + instantText(m.For)
	}
	return fmt.Sprintf("%s at %s, by %s", zkconn.Shown(string(m.State)), at, who)
}
