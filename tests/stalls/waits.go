package main

import (
	"fmt"
	"slices"
	"sync"
	"time"

	"github.com/go-zookeeper/zk"
)

// wait measures the time that a request whose client was cut off has waited since it could be
// granted: since the client may connect again, and since the node of the client's former hold, if
// any, is gone at the servers.
type wait struct {
	since   time.Time // the client may connect again, and asks
	former  *former   // nil: its client did not hold before
	granted time.Time // zero: it never was
}

// length is the time from when the request could be granted until it was. A watch that tells of the former hold's end
// may come after the grant: then it has not waited at all.
func (w *wait) length() time.Duration {
	since := w.since
	if gone := w.former.end(); gone.After(since) {
		since = gone
	}
	return max(0, w.granted.Sub(since))
}

// former is the node of a hold that the fault takes away.
type former struct {
	mu   sync.Mutex
	gone time.Time // zero: nobody has said that it is gone
}

// end is the time at which the leader's event said that the node was gone.
func (f *former) end() time.Time {
	if f == nil {
		return time.Time{}
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.gone
}

// keepAnEyeOn watches the one node that a trial's path has, at the leader. Where the watch ends before the node does,
// the request counts as one that could be granted from the beginning.
func (r *round) keepAnEyeOn(t *trial) (*former, error) {
	children, _, err := r.direct.Children(t.path)
	if err != nil || len(children) == 0 {
		return nil, err
	}
	_, _, changed, err := r.direct.ExistsW(t.path + "/" + children[0])
	if err != nil {
		return nil, err
	}
	f := &former{}
	r.running.Go(func() {
		select {
		case event := <-changed:
			if event.Type == zk.EventNodeDeleted {
				f.mu.Lock()
				defer f.mu.Unlock()
				f.gone = time.Now()
			}
		case <-r.asking.Done():
		}
	})
	return f, nil
}

// waits are the lengths of many waits.
type waits []time.Duration

// shares are waits by how many were no longer.
type shares struct {
	Half time.Duration `json:"half"`
	Most time.Duration `json:"most"` // 99 of 100
	All  time.Duration `json:"all"`
}

// shares is nil where there are no waits.
func (w waits) shares() *shares {
	if len(w) == 0 {
		return nil
	}
	sorted := slices.Sorted(slices.Values(w))
	at := func(share int) time.Duration { return sorted[(len(sorted)-1)*share/100] }
	return &shares{Half: at(50), Most: at(99), All: at(100)}
}

// String is "-" for none.
func (s *shares) String() string {
	if s == nil {
		return "-"
	}
	return fmt.Sprintf("%v/%v/%v", s.Half.Round(time.Millisecond), s.Most.Round(time.Millisecond),
		s.All.Round(time.Millisecond))
}
