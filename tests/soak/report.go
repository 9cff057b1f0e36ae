package main

// report is a message of a client to the controller, one JSON object a line. Every worker has a
// connection of its own, and its process one more, on which commands come.
type report struct {
	Kind  string `json:"k"`
	From  holder `json:"f,omitzero"`
	Lock  int    `json:"l,omitempty"`
	Token int64  `json:"t,omitempty"`
	Mode  mode   `json:"m,omitempty"`    // of a grant; exclusive when empty
	Node  string `json:"node,omitempty"` // of a grant: the contender node's name
	// Call and At are instants: before and after what is reported.
	Call int64 `json:"c,omitempty"`
	At   int64 `json:"a,omitempty"`
	// Confirmed is an instant at which the lease was valid, 0 for none.
	Confirmed int64 `json:"v,omitempty"`
	// Told: the lock was lost, and the worker was told so.
	Told bool `json:"lost,omitempty"`
	// Op and Error say which call failed how; Detail is for people.
	Op     string `json:"o,omitempty"`
	Error  string `json:"e,omitempty"`
	Detail string `json:"d,omitempty"`
	Count  int    `json:"n,omitempty"`
	Rest   rest   `json:"rest,omitempty"`
}

// The kinds of reports.
const (
	kindProcess   = "process"   // first on the connection of a process
	kindWorker    = "worker"    // first on a worker's
	kindAsk       = "ask"       // Lock is called
	kindGrant     = "grant"     // Lock has returned a lease
	kindWrite     = "write"     // to the resource; it is answered
	kindRecheck   = "recheck"   // after a refused write: Confirmed says whether the lease is valid still
	kindCommit    = "commit"    // Detail is an entry that is about to be written into the lock's journal
	kindCommitted = "committed" // and Count is the outcome that was told
	kindEnd       = "end"       // the hold is over: Unlock is called next, or the lock was lost
	kindUnlocked  = "unlocked"  // Unlock has returned
	kindFailed    = "failed"    // Lock has returned an error
	kindHung      = "hung"      // Lock or Unlock did not return
	kindSessions  = "sessions"  // Count sessions were lost since the last time
	kindPolls     = "polls"     // Count waiters found out only by the slow poll, since the last time
	kindIdle      = "idle"      // no request is under way, as was commanded
	kindRest      = "rest"      // Rest is what the process has, as was commanded
	kindLog       = "log"       // Detail is the end of the log, as was commanded
)

// holder names a worker. A client that was killed and started again has the next incarnation.
type holder struct {
	Client      int `json:"c"`
	Incarnation int `json:"i"`
	Worker      int `json:"w"`
}

// answer is the resource's answer to a write.
type answer struct {
	OK bool `json:"ok"`
}

// command is a command of the controller to a process.
type command struct {
	Do string `json:"do"`
}

// The commands.
const (
	doQuiet = "quiet" // finish what is under way and begin nothing
	doGo    = "go"    // go on
	doBurst = "burst" // workers that pause go on at once
	doLong  = "long"  // for four session timeouts hold for about one, every second time
	doStop  = "stop"  // close the client and end
	doRest  = "rest"  // send what the process has at rest
	doLog   = "log"   // send the end of the log
)
