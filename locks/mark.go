package locks

import (
	"encoding/json"
	"fmt"
	"os"
	"time"

	"github.com/turnstile-locks/turnstile/zkconn"
)

// Mark is what RunOnce leaves behind: who ran, and when. Times are by the servers' clock, to the millisecond.
type Mark struct {
	// State is what the mark says of the run; "" stands for no mark.
	State MarkState
	// Host and PID are the machine and the process that ran, Label what it called itself (WithLabel).
	Host  string
	PID   int
	Label string
	// Token is the fencing token that it ran with.
	Token Token
	// Began is when it had the lock and found the work to be due.
	Began time.Time
	// Written is when the mark was written: the time of its node.
	Written time.Time
}

// MarkState is what a mark says of a run.
type MarkState string

// The states.
const (
	// MarkDone: the work has been done.
	MarkDone MarkState = "done"
	// MarkBegun: it has been begun, and no more is known (WithMarkFirst).
	MarkBegun MarkState = "begun"
	// MarkFailed: it has failed (WithRetryAfter).
	MarkFailed MarkState = "failed"
)

// The nodes below the key of a RunOnce: the mark, and the one that is written to be told the time.
const (
	markName  = "ran"
	clockName = "clock"
)

// markForm is how a mark is written.
type markForm struct {
	Run   MarkState `json:"run"`
	Host  string    `json:"host"`
	PID   int       `json:"pid"`
	Label string    `json:"label,omitempty"`
	Token Token     `json:"token"`
	Began int64     `json:"began"` // milliseconds since 1970
}

// newMark makes the mark of a run of this process.
func newMark(state MarkState, lease *Lease, began time.Time) Mark {
	host, _ := os.Hostname() // for people
	return Mark{State: state, Host: host, PID: os.Getpid(), Label: lease.from.want.Label, Token: lease.Token(),
		Began: began}
}

// data is what the mark's node holds.
func (m Mark) data() []byte {
	text, _ := json.Marshal(markForm{m.State, m.Host, m.PID, m.Label, m.Token, m.Began.UnixMilli()}) // strings and numbers
	return text
}

// readMark reads a mark that was written at a time.
func readMark(data []byte, written time.Time) (Mark, error) {
	var f markForm
	if err := json.Unmarshal(data, &f); err != nil || f.Run == "" || f.Began == 0 {
		return Mark{}, fmt.Errorf("%w: %s is not the mark of a run: %.40q", ErrFailed, markName, data)
	}
	return Mark{f.Run, f.Host, f.PID, f.Label, f.Token, time.UnixMilli(f.Began), written}, nil
}

// String says who ran and when, for people: in words, on one line.
func (m Mark) String() string {
	if m.State == "" {
		return "nobody"
	}
	who := fmt.Sprintf("process %d on %s", m.PID, zkconn.Shown(m.Host))
	if m.Label != "" {
		who = fmt.Sprintf("%q, %s", m.Label, who)
	}
	return fmt.Sprintf("%s at %s, by %s", m.State, m.Began.UTC().Format(time.RFC3339), who)
}
