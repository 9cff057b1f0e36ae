package board

// Rate has the hand-offs of locks: of each second of the last minute, and the mean of the newest
// seconds.
type Rate struct {
	Mean    float64 `json:"mean"`
	Seconds []int   `json:"seconds"`
}

// LockRow is one lock of the tree, or a folder of locks.
type LockRow struct {
	ID       string  `json:"id"`
	Path     string  `json:"path"`
	Name     string  `json:"name"` // the part of the path below the folder
	Depth    int     `json:"depth"`
	Folder   bool    `json:"folder,omitempty"`
	Kind     string  `json:"kind,omitempty"`
	State    string  `json:"state,omitempty"`
	Why      string  `json:"why,omitempty"` // it cannot be read
	Holders  int     `json:"holders,omitempty"`
	Waiters  int     `json:"waiters,omitempty"`
	Who      string  `json:"who,omitempty"` // the first holder
	Token    string  `json:"token,omitempty"`
	Since    int64   `json:"since,omitempty"`
	Least    bool    `json:"least,omitempty"`
	Rate     float64 `json:"rate,omitempty"`
	Deadlock bool    `json:"deadlock,omitempty"`
}

// The states of a lock.
const (
	Free     = "free"
	Held     = "held"
	Revoking = "revoking"
	Unread   = "unreadable"
	Counted  = "counted" // only its numbers are known
)

// WaitRow is a contender that waits.
type WaitRow struct {
	ID       string `json:"id"`
	Path     string `json:"path"`
	Who      string `json:"who"`
	Position int    `json:"position"`
	Since    int64  `json:"since"`
}
