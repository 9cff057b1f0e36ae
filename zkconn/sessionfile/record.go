package sessionfile

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"strconv"
	"time"
)

// Record is one session.
type Record struct {
	// Session is its id, Password proves to servers who owns it.
	Session  int64
	Password []byte
	Timeout  time.Duration
	// Connect is the connect string: the servers, and the chroot.
	Connect string
	// Reclaim: its process may have held locks that the next process takes back.
	Reclaim bool
	// KeptUntil is until when a process keeps its predecessor's session, for the locks that it
	// reclaims; zero before any has. It is by this host's clock, to the millisecond.
	KeptUntil time.Time
}

// keptFor gives how long the session is still kept: its timeout from when the first process keeps
// it, however many come after. A clock that is set back prolongs that, by at most the timeout each
// time.
func (r Record) keptFor(now time.Time) time.Duration {
	if r.KeptUntil.IsZero() {
		return r.Timeout
	}
	return min(r.KeptUntil.Sub(now), r.Timeout)
}

// String gives the record without its password.
func (r Record) String() string {
	return fmt.Sprintf("session %#x of %s, timeout %v", uint64(r.Session), r.Connect, r.Timeout)
}

// GoString is String, so that %#v prints no password.
func (r Record) GoString() string { return r.String() }

const (
	format  = "turnstile session file, version "
	heading = format + "1\n"
)

type content struct {
	Boot     string  `json:"boot"` // the run of the kernel
	Sessions []entry `json:"sessions"`
}

type entry struct {
	Session  string `json:"session"` // hexadecimal, as servers log it
	Password []byte `json:"password"`
	Timeout  int64  `json:"timeout_ms"`
	Connect  string `json:"connect"`
	Reclaim  bool   `json:"reclaim,omitempty"`
	Kept     int64  `json:"kept_until_ms,omitempty"` // since 1970
}

func encode(boot string, records []Record) []byte {
	if len(records) == 0 {
		return nil
	}
	c := content{Boot: boot}
	for _, r := range records {
		e := entry{
			Session: "0x" + strconv.FormatUint(uint64(r.Session), 16), Password: r.Password,
			Timeout: r.Timeout.Milliseconds(), Connect: r.Connect, Reclaim: r.Reclaim,
		}
		if !r.KeptUntil.IsZero() {
			e.Kept = r.KeptUntil.UnixMilli()
		}
		c.Sessions = append(c.Sessions, e)
	}
	text, err := json.Marshal(c)
	if err != nil { // cannot fail for strings, bytes and numbers
		panic(err)
	}
	return append(append([]byte(heading), text...), '\n')
}

var (
	errForeign     = errors.New("holds something else than a session")
	errAnotherBoot = errors.New("written on another host, or before this one was started: the writer may live")
)

// decode reads the content of a file. errForeign: this package did not write it. Any other error:
// the file is damaged, of another version, or of another run of the kernel.
func decode(boot string, text []byte) ([]Record, error) {
	if len(bytes.Trim(text, "\x00")) == 0 {
		if len(text) > 0 {
			return nil, errors.New("zeros")
		}
		return nil, nil
	}
	if !bytes.HasPrefix(text, []byte(format)) {
		return nil, errForeign
	}
	rest, found := bytes.CutPrefix(text, []byte(heading))
	if !found {
		return nil, errors.New("another version, or cut off")
	}
	var c content
	// The first value only: the rest of a longer content may follow.
	if err := json.NewDecoder(bytes.NewReader(rest)).Decode(&c); err != nil {
		return nil, err
	}
	if c.Boot != boot && len(c.Sessions) > 0 {
		return nil, errAnotherBoot
	}
	var records []Record
	for _, e := range c.Sessions {
		id, err := strconv.ParseUint(e.Session, 0, 64)
		if err != nil {
			return nil, fmt.Errorf("session id: %w", err)
		}
		if id == 0 || len(e.Password) == 0 || e.Connect == "" || e.Timeout <= 0 || e.Timeout > math.MaxInt32 {
			return nil, errors.New("a session without id, password, timeout or servers")
		}
		r := Record{Session: int64(id), Password: e.Password, Timeout: time.Duration(e.Timeout) * time.Millisecond,
			Connect: e.Connect, Reclaim: e.Reclaim}
		if e.Kept != 0 {
			r.KeptUntil = time.UnixMilli(e.Kept)
		}
		records = append(records, r)
	}
	return records, nil
}
