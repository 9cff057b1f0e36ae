package scene

import (
	"context"
	"errors"
	"fmt"
	"regexp"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/go-zookeeper/zk"
	"github.com/stretchr/testify/require"

	"github.com/turnstile-locks/turnstile/actors/queue"
	"github.com/turnstile-locks/turnstile/locks"
	"github.com/turnstile-locks/turnstile/messages"
)

// world is a scene with values for its variables: a tree of its own, and those who meet in it.
type world struct {
	t        *testing.T
	at       place
	vars     map[string]string
	root     string
	stranger *zk.Conn
	clients  map[string]*client
	said     []string                      // what steps of the block had to say
	asks     []func() string               // the questions of the block
	seen     map[string]messages.Contender // by their calls
	planted  map[string]string             // nodes, by the paths that they were asked for with
	who      map[string]string             // the first node of each caller
	hurries  bool                          // the step does not wait
	keeps    bool                          // a node may stay while nobody asks

	mu     sync.Mutex // guards what follows, and the calls
	steps  int
	calls  []*call
	most   map[string]int // permits of a semaphore, by its path
	broken []string
}

func newWorld(t *testing.T, at place, vars map[string]string) *world {
	w := &world{t: t, at: at, vars: vars, root: at.chroot(), stranger: at.raw(t), clients: map[string]*client{}, most: map[string]int{},
		seen: map[string]messages.Contender{}, planted: map[string]string{}, who: map[string]string{}}
	_, err := w.stranger.Create(w.root, nil, 0, zk.WorldACL(zk.PermAll))
	require.NoError(t, err)
	return w
}

// newCall adds a call.
func (w *world) newCall(name string, by *client, path, kind string) *call {
	c := &call{w: w, name: name, by: by, path: path, at: path + " ", kind: kind, cancel: func() {},
		came: make(chan struct{}), over: make(chan struct{})}
	w.mu.Lock()
	defer w.mu.Unlock()
	w.calls = append(w.calls, c)
	return c
}

// fail is the end of a call that has no lease.
func (c *call) fail(why any) {
	c.tell("%v", why)
	close(c.came)
	close(c.over)
}

// unanswered reports whether it waits.
func (c *call) unanswered() bool {
	select {
	case <-c.came:
		return false
	default:
		return true
	}
}

// call is a call of Lock, or a lock actor, and what it was told.
type call struct {
	w       *world
	name    string
	by      *client
	kind    string
	at      string // its queue: the path, and the name
	path    string
	weight  int
	within  *call
	told    []string
	lease   lease
	step    int  // of the grant
	leaving bool // it gives back, or its node is taken from it
	cancel  context.CancelFunc
	unlock  func(context.Context) error // in place of the lease's; nil for none
	came    chan struct{}               // closed when it has its lease, or will have none
	over    chan struct{}               // closed when nothing more is told
}

// lease is what a call has that was granted.
type lease interface {
	Node() string
	Token() messages.Token
	Valid() bool
	Unlock(context.Context) error
}

func (c *call) tell(format string, args ...any) {
	c.w.mu.Lock()
	defer c.w.mu.Unlock()
	c.told = append(c.told, c.w.plain(fmt.Sprintf(format, args...)))
}

// grant judges a lease against all others.
func (c *call) grant(l lease) {
	w := c.w
	w.mu.Lock()
	defer w.mu.Unlock()
	c.lease, c.step, c.leaving = l, w.steps, false
	close(c.came)
	c.told = append(c.told, "holds "+number(l.Node()))
	sum := c.weight
	for _, o := range w.calls {
		if o == c || o.at != c.at || o.lease == nil || o.within == c || c.owned(o) || c.kind == "read" && o.lease.Node() == l.Node() {
			continue
		}
		if o.step < c.step && o.lease.Token() >= l.Token() && l.Token() > 0 {
			w.broken = append(w.broken, fmt.Sprintf("%s has token %v, and %s had %v before", c.name, l.Token(), o.name, o.lease.Token()))
		}
		if o.leaving || !o.lease.Valid() {
			continue
		}
		sum += o.weight
		if c.kind != "semaphore" && (c.kind != "read" || o.kind != "read") || c.kind == "semaphore" && sum > w.most[c.path] {
			w.broken = append(w.broken, fmt.Sprintf("%s holds beside %s", c.name, o.name))
		}
	}
}

// owned reports whether a call was made within the lease of another.
func (c *call) owned(by *call) bool {
	for ; c != nil; c = c.within {
		if c == by {
			return true
		}
	}
	return false
}

// number is the number of a node in its queue; a contest has one.
func number(node string) string {
	n, _ := queue.Sequence(node)
	return fmt.Sprint("#", n)
}

var (
	uuid = regexp.MustCompile(`[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}`)
	hex  = regexp.MustCompile(`[0-9a-f]{32}`)
	made = regexp.MustCompile(`[^ /]*[-_](\d{10})\b`)
)

// plain is a text without what differs from run to run.
func (w *world) plain(text string) string {
	text = strings.ReplaceAll(text, w.root, "")
	for name, value := range w.vars {
		if name != "face" && len(value) > 3 && strings.Contains(text, value) {
			text = strings.ReplaceAll(text, value, "$"+name)
		}
	}
	text = made.ReplaceAllStringFunc(text, func(node string) string { return number(node) })
	return hex.ReplaceAllString(uuid.ReplaceAllString(text, "UUID"), "HEX")
}

// failed is the text of an error: what it says last, for the rest repeats the step.
func failed(err error) string {
	if errors.Is(err, context.Canceled) {
		return context.Canceled.Error()
	}
	var e *locks.Error
	if errors.As(err, &e) {
		err = e.Err
	}
	return strings.ReplaceAll(err.Error(), "turnstile: ", "")
}

// block carries out steps and gives what came of them, for which it waits where that is not what is wanted yet.
func (w *world) block(lines []string, want string) string {
	w.asks, w.said = nil, nil
	for _, line := range lines {
		for name, value := range w.vars {
			line = strings.ReplaceAll(line, "$"+name, value)
		}
		w.mu.Lock()
		w.steps++
		w.mu.Unlock()
		line, w.hurries = strings.CutSuffix(line, " &")
		if w.step(line); !w.hurries {
			w.at.settle()
		}
	}
	for end := time.Now().Add(w.at.patience()); ; time.Sleep(20 * time.Millisecond) {
		got := w.outcome()
		if got == want {
			w.catchUp()
			got = w.outcome()
		}
		if got == want || !time.Now().Before(end) {
			w.mu.Lock()
			for _, c := range w.calls {
				c.told = nil
			}
			w.mu.Unlock()
			w.whole()
			return got
		}
	}
}

// whole finds no rule broken.
func (w *world) whole() {
	w.mu.Lock()
	defer w.mu.Unlock()
	for _, what := range w.broken {
		w.t.Error(w.vars, what)
	}
}

// outcome is what was told since the last block, and the answers to the questions.
func (w *world) outcome() string {
	var out strings.Builder
	w.mu.Lock()
	for _, c := range w.calls {
		if len(c.told) > 0 {
			fmt.Fprintln(&out, c.name, strings.Join(c.told, ", "))
		}
	}
	w.mu.Unlock()
	for _, said := range w.said {
		fmt.Fprintln(&out, said)
	}
	for _, ask := range w.asks {
		out.WriteString(ask())
	}
	return out.String()
}

// catchUp has every client that is connected be sent what came of everything before: a synced read comes behind that.
func (w *world) catchUp() {
	if w.at.patience() == 0 {
		return
	}
	for _, c := range w.clients {
		if !c.away {
			_, err := c.session.Ask(w.deadline(), &messages.ReadQueue{Path: "/settle"})
			require.NoError(w.t, err)
		}
	}
}

// end has all give back and give up, and finds that nothing is left.
func (w *world) end() {
	for _, c := range w.calls {
		if c.unanswered() {
			c.cancel()
		}
	}
	for _, c := range w.calls {
		<-c.came
		if c.lease != nil && !c.leaving {
			w.back(c)
		}
		<-c.over
	}
	w.at.settle()
	left := func() (nodes []string) { w.ephemeral(w.root, &nodes); return nodes }
	for end := time.Now().Add(w.at.patience()); len(left()) > 0 && time.Now().Before(end); {
		time.Sleep(20 * time.Millisecond)
	}
	if kept := left(); !w.keeps {
		require.Empty(w.t, kept, "left in %v", w.vars)
	}
	for _, c := range w.clients {
		c.end(w)
	}
	w.whole()
	w.stranger.Close()
}

// ephemeral finds the nodes of sessions that are not the stranger's.
func (w *world) ephemeral(path string, found *[]string) {
	children, stat, err := w.stranger.Children(path)
	if err != nil {
		return
	}
	if stat.EphemeralOwner != 0 && stat.EphemeralOwner != w.stranger.SessionID() {
		*found = append(*found, path)
	}
	for _, child := range children {
		w.ephemeral(path+"/"+child, found)
	}
}

func (w *world) deadline() context.Context {
	ctx, cancel := context.WithTimeout(context.Background(), bound)
	context.AfterFunc(ctx, cancel)
	return ctx
}
