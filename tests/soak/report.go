package main

// report is what a client tells the controller: a JSON object a line, on its standard output.
type report struct {
	Kind string `json:"k"`
	// From is the worker. The client and its incarnation are those of the process.
	From  holder `json:"f,omitzero"`
	Lock  int    `json:"l,omitempty"`
	Token int64  `json:"t,omitempty"`
	Mode  mode   `json:"m,omitempty"` // of a grant; exclusive when empty
	// Call and At are instants: before and after what is reported.
	Call int64 `json:"c,omitempty"`
	At   int64 `json:"a,omitempty"`
	// Confirmed is the last instant at which the lease was valid for certain, 0 for none.
	Confirmed int64 `json:"v,omitempty"`
	// Told: the lock was lost, and the worker was told so.
	Told   bool           `json:"lost,omitempty"`
	Detail string         `json:"d,omitempty"` // for people
	Rest   map[string]int `json:"rest,omitempty"`
}

// The kinds of reports; and the answers to doQuiet, doRest and doLog are of these kinds.
const (
	kindAsk    = "ask"    // Lock is called
	kindGrant  = "grant"  // Lock has returned a lease
	kindWrite  = "write"  // to the resource
	kindEnd    = "end"    // the hold is over: Unlock is called next, or the lock was lost
	kindGaveUp = "gaveup" // Lock has returned, because its context had ended
	kindFailed = "failed" // Lock has returned another error
)

// holder names a worker. A client that was killed and started again has the next incarnation.
type holder struct {
	Client      int `json:"c,omitempty"`
	Incarnation int `json:"i,omitempty"`
	Worker      int `json:"w"`
}

// The commands to a client, each a line on its standard input.
const (
	doQuiet = "quiet" // finish what is under way and begin nothing; then say so
	doGo    = "go"    // go on
	doBurst = "burst" // workers that pause go on at once
	doLong  = "long"  // for four session timeouts hold for about one, every second time
	doRest  = "rest"  // tell what the process has
	doLog   = "log"   // write the end of the log to a file, and say so
	doStop  = "stop"  // close the client and end
)
