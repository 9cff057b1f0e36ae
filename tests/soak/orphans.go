package main

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/go-zookeeper/zk"

	"github.com/turnstile-locks/turnstile/tests/rig"
)

// inspector looks at the lock paths, past all proxies.
type inspector struct {
	conn   *zk.Conn
	locks  int
	known  map[string]bool // orphans that were reported
	judged map[int]string  // the last entry of each journal that was judged
}

func newInspector(servers string, locks int) (*inspector, error) {
	conn, _, err := zk.Connect(strings.Split(servers, ","), 20*time.Second, zk.WithLogger(rig.Silent{}))
	if err != nil {
		return nil, fmt.Errorf("soak: %w", err)
	}
	return &inspector{conn: conn, locks: locks, known: map[string]bool{}, judged: map[int]string{}}, nil
}

func (i *inspector) close() { i.conn.Close() }

// await polls until no child is left under any lock path, or within has passed; then it gives the
// ones that are left, each with its owner.
func (i *inspector) await(within time.Duration) (map[string]string, error) {
	var err error
	for deadline := time.Now().Add(within); ; {
		var left map[string]string
		left, err = i.children()
		if err == nil && len(left) == 0 || time.Now().After(deadline) {
			return left, err
		}
		time.Sleep(100 * time.Millisecond)
	}
}

func (i *inspector) children() (map[string]string, error) {
	left := map[string]string{}
	if _, err := i.conn.Sync("/"); err != nil {
		return nil, fmt.Errorf("soak: sync: %w", err)
	}
	for lock := range i.locks {
		names, _, err := i.conn.Children(lockPath(lock))
		if err == zk.ErrNoNode {
			continue
		}
		if err != nil {
			return nil, fmt.Errorf("soak: children of %s: %w", lockPath(lock), err)
		}
		for _, name := range names {
			path := lockPath(lock) + "/" + name
			found, stat, err := i.conn.Exists(path)
			if err != nil {
				return nil, fmt.Errorf("soak: %s: %w", path, err)
			}
			if found {
				left[path] = fmt.Sprintf("session 0x%x, zxid 0x%x, made %v", stat.EphemeralOwner, stat.Czxid,
					time.UnixMilli(stat.Ctime).Format(time.TimeOnly))
			}
		}
	}
	return left, nil
}

// unclaimed gives those of the nodes that were left which no request owns. A request that never ended
// may own one: of each lock as many are passed over as requests are stuck, the newest, because it is for
// an older one that they wait.
func (j *judge) unclaimed(left []string) (all []string) {
	j.mu.Lock()
	defer j.mu.Unlock()
	for _, l := range j.locks {
		mine := slices.DeleteFunc(slices.Clone(left), func(path string) bool {
			return !strings.HasPrefix(path, lockPath(l.number)+"/")
		})
		slices.SortFunc(mine, func(a, b string) int { return strings.Compare(sequence(a), sequence(b)) })
		all = append(all, mine[:max(0, len(mine)-l.stuck)]...)
		l.stuck = 0
	}
	return all
}

// remove deletes an orphan, lest it block its lock for the rest of the run.
func (i *inspector) remove(path string) { _ = i.conn.Delete(path, -1) }
