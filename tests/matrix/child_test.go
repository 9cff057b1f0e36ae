package matrix

import (
	"bufio"
	"context"
	"encoding/json"
	"fmt"
	"os"
	"strings"
	"sync"
	"time"

	"github.com/asynkron/protoactor-go/actor"

	"github.com/turnstile-locks/turnstile/locks"
	"github.com/turnstile-locks/turnstile/messages"
)

// childVariable is the environment variable that makes the test binary a client in a process of its own: it
// holds an order.
const childVariable = "TURNSTILE_MATRIX_CHILD"

// order says what a child is to connect to, and for which lock.
type order struct {
	Connect string
	Timeout time.Duration
	Path    string
	// Sharers is the number of calls that share a hold. Zero means one call, which is observed.
	Sharers int
}

// said is one line of a child's: what its request went through, what its lease looked like when it found that it
// had been stopped, and what its calls returned.
type said struct {
	What  string // "state", "look", "open", "lock", "unlock"
	State string
	Token messages.Token
	Error string
	At    time.Time
	// Of a look: how long the process stood still, whether the lease was valid then, and when it ended.
	Gap      time.Duration
	Valid    bool
	Deadline time.Time
}

// subject takes commands, one a line, until there are no more.
type subject struct {
	order
	mu     sync.Mutex // guards what is written
	client *locks.Client
	lease  *locks.Lease
}

// beChild is the main function of a child.
func beChild(o order) error {
	c := &subject{order: o}
	ctx := context.Background()
	client, err := locks.Open(ctx, c.Connect, locks.WithSessionTimeout(c.Timeout))
	if err != nil {
		return err
	}
	c.client = client
	c.say(said{What: "open"})
	done := make(chan struct{})
	for commands := bufio.NewScanner(os.Stdin); commands.Scan(); {
		switch commands.Text() {
		case "warm": // the next create is the contender's own
			if lease, err := client.Mutex(c.Path).Lock(ctx); err == nil {
				_ = lease.Unlock(ctx)
			}
			c.say(said{What: "warm"})
		case "lock":
			go c.lock(ctx, done)
		case "unlock":
			<-done
			go func() { c.say(said{What: "unlock", Error: oneLine(unlock(ctx, c.lease))}) }()
		case "close":
			_ = client.Close(ctx)
			c.say(said{What: "close"})
			return nil
		}
	}
	return nil
}

// lock asks for the lock, and looks at the lease every time that the process has stood still.
func (c *subject) lock(ctx context.Context, done chan struct{}) {
	observer := c.client.System().Root.Spawn(actor.PropsFromFunc(func(ctx actor.Context) {
		if t, ok := ctx.Message().(*messages.Transition); ok {
			c.say(said{What: "state", State: t.To.String(), Token: t.Token, At: t.At})
		}
	}))
	how := locks.WithObserver(observer)
	if c.Sharers > 0 {
		how = locks.WithCohort(c.Sharers)
	}
	mutex := c.client.Mutex(c.Path, how)
	lease, err := mutex.Lock(ctx)
	for range c.Sharers - 1 {
		go func() { _, _ = mutex.Lock(ctx) }()
	}
	c.lease = lease
	close(done)
	if err != nil {
		c.say(said{What: "lock", Error: err.Error()})
		return
	}
	last := time.Now() // before anybody hears that it holds, who may stop it at once
	c.say(said{What: "lock", Token: lease.Token(), At: last})
	for ; ; time.Sleep(time.Millisecond) {
		valid := lease.Valid() // before anything else
		now := time.Now()
		if gap := now.Sub(last); gap > c.Timeout {
			c.say(said{What: "look", Gap: gap, Valid: valid, Deadline: lease.Deadline(), At: now})
		}
		last = now
	}
}

func (c *subject) say(s said) {
	c.mu.Lock()
	defer c.mu.Unlock()
	line, err := json.Marshal(s)
	if err != nil {
		line = []byte(err.Error())
	}
	fmt.Println(string(line))
}

// oneLine is an error as a text on one line, "" for none.
func oneLine(err error) string {
	if err == nil {
		return ""
	}
	return strings.ReplaceAll(err.Error(), "\n", "; ")
}
