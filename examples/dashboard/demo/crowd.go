package demo

import (
	"encoding/json"
	"fmt"
	"sync"
	"time"

	"github.com/go-zookeeper/zk"
	"github.com/google/uuid"

	"github.com/turnstile-locks/turnstile/actors/queue"
)

// Crowd is many contenders for one lock. To a dashboard they are like any others, but there are no programs behind
// them: only nodes, all of one session. So that it moves, the first is told to go by Pass.
type Crowd struct {
	conn *zk.Conn
	path string
	came int

	mu    sync.Mutex
	queue []string // nodes, the first first
}

// batch is the number of nodes that one request makes.
const batch = 500

// NewCrowd makes so many contenders wait for a lock.
func NewCrowd(server, path string, size int) (*Crowd, error) {
	conn, _, err := zk.Connect([]string{server}, sessionTimeout, zk.WithLogger(silent{}))
	if err != nil {
		return nil, fmt.Errorf("crowd: %w", err)
	}
	c := &Crowd{conn: conn, path: path}
	if err := c.fill(size); err != nil {
		conn.Close()
		return nil, fmt.Errorf("crowd at %s: %w", path, err)
	}
	return c, nil
}

type silent struct{}

func (silent) Printf(string, ...any) {}

func (c *Crowd) fill(size int) error {
	for i, r := range c.path {
		if r == '/' && i > 0 {
			if err := c.parent(c.path[:i]); err != nil {
				return err
			}
		}
	}
	if err := c.parent(c.path); err != nil {
		return err
	}
	for size > 0 {
		n := min(size, batch)
		if err := c.come(n); err != nil {
			return err
		}
		size -= n
	}
	return nil
}

func (c *Crowd) parent(path string) error {
	if _, err := c.conn.Create(path, nil, 0, zk.WorldACL(zk.PermAll)); err != nil && err != zk.ErrNodeExists {
		return err
	}
	return nil
}

// come has so many more queue.
func (c *Crowd) come(n int) error {
	requests := make([]any, n)
	for i := range requests {
		c.came++
		data, err := json.Marshal(queue.Owner{Host: fmt.Sprintf("web-%d", c.came%12+1), PID: 1000 + c.came%400,
			Label: fmt.Sprintf("visitor %d", c.came), Mode: "exclusive", Since: time.Now().UTC()})
		if err != nil {
			return err
		}
		requests[i] = &zk.CreateRequest{Path: c.path + "/_c_" + uuid.NewString() + "-lock-", Data: data,
			Acl: zk.WorldACL(zk.PermAll), Flags: zk.FlagEphemeral | zk.FlagSequence}
	}
	made, err := c.conn.Multi(requests...)
	if err != nil {
		return err
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	for _, m := range made {
		c.queue = append(c.queue, m.String)
	}
	return nil
}

// Pass has the holder go, and one more come: the next one holds then.
func (c *Crowd) Pass() error {
	c.mu.Lock()
	first := c.queue[0]
	c.queue = c.queue[1:]
	c.mu.Unlock()
	if err := c.conn.Delete(first, -1); err != nil {
		return err
	}
	return c.come(1)
}

// Close has all of them go.
func (c *Crowd) Close() { c.conn.Close() }
