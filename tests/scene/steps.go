package scene

import (
	"cmp"
	"context"
	"fmt"
	"os"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/go-zookeeper/zk"
	"github.com/stretchr/testify/require"

	"github.com/turnstile-locks/turnstile/actors/queue"
	"github.com/turnstile-locks/turnstile/locks"
	"github.com/turnstile-locks/turnstile/messages"
	"github.com/turnstile-locks/turnstile/tests/patient"
	"github.com/turnstile-locks/turnstile/tests/rig"
)

// words are the rest of a step: what it is about, and its options.
type words []string

func (o words) has(word string) bool { return slices.Contains(o, word) }

func (o words) text(key string) string {
	for _, word := range o {
		if value, ok := strings.CutPrefix(word, key+"="); ok {
			return plainWord(value)
		}
	}
	return ""
}

func (o words) count(key string, usual int) int {
	if n, err := strconv.Atoi(o.text(key)); err == nil {
		return n
	}
	return usual
}

func (o words) span(key string) time.Duration {
	d, _ := time.ParseDuration(o.text(key))
	return d
}

// plainWord is what a word with quotes says.
func plainWord(word string) string {
	if said, err := strconv.Unquote(word); err == nil {
		return said
	}
	return word
}

var (
	namings = map[string]messages.Naming{"kazoo": messages.KazooNaming, "recipe": messages.RecipeNaming, "none": 99}
	modes   = map[string]messages.Mode{"read": messages.Read, "write": messages.Write, "semaphore": messages.Semaphore, "contest": messages.Contest}
	ops     = map[string]rig.OpCode{"create": rig.OpCreate, "delete": rig.OpDelete, "set": rig.OpSetData, "list": rig.OpGetChildren2,
		"get": rig.OpGetData, "exists": rig.OpExists, "multi": rig.OpMulti}
	fates = map[string]rig.Action{"lost": rig.DropReply, "cut": rig.CutBefore, "held": rig.Delay}
)

// acquire is what is asked of a lock actor.
func (o words) acquire(kind, path string, try bool) messages.Acquire {
	permits, weight := o.count("permits", 0), o.count("weight", 0)
	if kind == "semaphore" {
		permits, weight = max(permits, 1), max(weight, 1)
	}
	return messages.Acquire{Path: path, Mode: modes[kind], Name: o.text("name"), Naming: namings[o.text("naming")], Permits: permits, Weight: weight,
		WatchAll: o.has("watchall"), Try: try, Grace: o.span("grace"), Label: o.text("label"),
		Owner: o.text("owner"), Caller: o.text("caller")}
}

// lockOptions are those of a call of package locks.
func (o words) lockOptions(c *call) []locks.LockOption {
	opts := []locks.LockOption{locks.WithGrace(o.span("grace")), locks.WithOnChange(c.hear), locks.WithCohort(o.count("cohort", 0)),
		locks.WithMaxWaiters(o.count("max", 0)), locks.WithMaxHold(o.span("hold"))}
	for word, opt := range map[string]locks.LockOption{"name=": locks.WithName(o.text("name")), "label=": locks.WithLabel(o.text("label")),
		"naming=": locks.WithNaming(namings[o.text("naming")]), "sticky=": locks.WithSticky(o.span("sticky")),
		"reentry": locks.WithReentry(), "watchall": locks.WithWatchAll()} {
		if slices.ContainsFunc(o, func(w string) bool { return strings.HasPrefix(w, word) }) {
			opts = append(opts, opt)
		}
	}
	c.w.keeps = c.w.keeps || o.span("sticky") > 0
	return opts
}

// call gives the call of a name, the last of them.
func (w *world) call(name string) *call {
	w.mu.Lock()
	defer w.mu.Unlock()
	for _, c := range slices.Backward(w.calls) {
		if c.name == name {
			return c
		}
	}
	return nil
}

// calls are those named.
func (w *world) named(names words) (all []*call) {
	for _, name := range names {
		c := w.call(name)
		require.NotNil(w.t, c, "who is %s?", name)
		all = append(all, c)
	}
	return all
}

// taken says that what some calls hold is about to be taken from them.
func (w *world) taken(which func(*call) bool) {
	w.mu.Lock()
	defer w.mu.Unlock()
	for _, c := range w.calls {
		c.leaving = c.leaving || which(c)
	}
}

// node is the path of a call's node.
func (w *world) node(name string) string {
	c := w.named(words{name})[0]
	if c.kind == "contest" {
		return w.root + c.path
	}
	if w.mu.Lock(); c.lease != nil {
		defer w.mu.Unlock()
		return w.root + c.path + "/" + c.lease.Node()
	}
	w.mu.Unlock()
	all, err := w.operator().Queue(w.deadline(), c.path)
	require.NoError(w.t, err)
	for _, o := range slices.Backward(all) { // the last of its session
		if o.Session == c.by.session.ID() {
			return w.root + o.At()
		}
	}
	require.Fail(w.t, "no node", name)
	return ""
}

// says has the outcome say what failed.
func (w *world) says(what string, err error) {
	if err != nil {
		w.said = append(w.said, w.plain(what+": "+failed(err)))
	}
}

// step carries out one step.
func (w *world) step(line string) {
	o := words(strings.Fields(line))
	for i := range o {
		o[i] = plainWord(o[i])
	}
	o = append(o, "", "", "", "") // so that each has all its words
	first, second, third, rest := o[1], o[2], o[3], strings.TrimSpace(strings.Join(o[2:], " "))
	t, ctx := w.t, w.deadline()
	switch names := o[1 : len(o)-4]; o[0] {
	case "open":
		w.client(first, o...)
	case "lock", "try":
		w.ask(first, second, o[4], third, o[4:], o[0] == "try")
	case "down":
		w.down(first, w.named(words{second})[0])
	case "back":
		for _, c := range w.named(names) {
			w.back(c)
		}
	case "leave":
		for _, c := range w.named(names) {
			c.cancel()
		}
	case "ask": // without its answer
		go func() { _, _ = w.client(first).Queue(context.Background(), second) }()
	case "revoke":
		asked, err := w.locks(first).Revoke(ctx, second)
		w.says("revoke", err)
		for _, c := range asked {
			w.said = append(w.said, "asked "+number(c.Node))
		}
	case "break":
		w.taken(func(c *call) bool { return c.name == second })
		if w.seen[second].Path == "" {
			w.look(second)
		}
		w.says("break", w.locks(first).Break(ctx, w.seen[second]))
	case "breaks":
		w.breaks(w.locks(first), second)
	case "look":
		w.look(first)
	case "permits":
		n, err := strconv.Atoi(third)
		require.NoError(t, err)
		w.most[second] = max(w.most[second], n)
		w.says("permits", w.locks(first).SetPermits(ctx, second, n))
	case "close":
		w.taken(func(c *call) bool { return c.by == w.clients[first] })
		w.client(first).end(w)
	case "expire":
		c := w.client(first)
		w.taken(func(o *call) bool { return o.by == c })
		c.expire(t, ctx, c.session.ID())
	case "cut", "join":
		c := w.client(first)
		c.away = o[0] == "cut"
		c.cut(c.away)
	case "fault":
		c := w.client(first)
		count, _ := strconv.Atoi(o[4])
		c.away = third == "held"
		c.armed = c.fault(rig.Rule{Op: ops[second], Action: fates[third], Count: count})
	case "fired":
		patient.Receive(t, w.client(first).armed.Fired())
	case "refuse":
		w.client(first).Refuse(true)
	case "release":
		w.client(first).away = false
		w.client(first).armed.Release()
	case "delete":
		node := w.node(first)
		w.taken(func(c *call) bool { return c.lease != nil && strings.HasSuffix(node, "/"+c.lease.Node()) })
		require.NoError(t, w.stranger.Delete(node, -1))
	case "write":
		_, err := w.stranger.Set(w.node(first), []byte(rest), -1)
		require.NoError(t, err)
	case "set":
		if n, err := strconv.Atoi(rest); err == nil {
			w.most[first] = max(w.most[first], n)
		}
		_, err := w.stranger.Set(w.root+first, []byte(rest), -1)
		require.NoError(t, err)
	case "plant":
		w.plant(first, rest, 0, zk.WorldACL(zk.PermAll))
	case "node":
		w.plant(first, rest, zk.FlagEphemeral|zk.FlagSequence, zk.WorldACL(zk.PermAll))
	case "prize":
		w.plant(first, rest, zk.FlagEphemeral, zk.WorldACL(zk.PermAll))
	case "shut": // for all; with a word, nothing below it may be deleted
		acl := zk.DigestACL(zk.PermAll, "me", "secret")
		if second != "" {
			w.plant(first, "", 0, zk.WorldACL(zk.PermAll))
			acl = zk.WorldACL(zk.PermRead | zk.PermWrite | zk.PermCreate)
		}
		_, err := w.stranger.SetACL(w.root+first, acl, -1)
		require.NoError(t, err)
	case "remove":
		require.NoError(t, w.stranger.Delete(w.planted[first], -1))
	case "zk":
		w.strange(first, second)
	case "wait":
		d, err := time.ParseDuration(first)
		require.NoError(t, err)
		time.Sleep(d)
	default:
		w.asks = append(w.asks, func() string { return w.plain(w.answer(o[0], first, second)) })
	}
}

// back gives a lease back.
func (w *world) back(c *call) {
	patient.Eventually(w.t, func() bool {
		w.mu.Lock()
		defer w.mu.Unlock()
		c.leaving = c.lease != nil
		return c.leaving
	}, "%s never holds (%s): %v", c.name, w.vars, &c.told)
	unlock := c.lease.Unlock
	if c.unlock != nil {
		unlock = c.unlock
	}
	if err := unlock(w.deadline()); err != nil {
		c.tell("back: %s", failed(err))
	}
}

// down has a lease downgraded.
func (w *world) down(name string, writer *call) {
	c := w.newCall(name, writer.by, writer.path, "read")
	c.at, c.within = writer.at, writer
	go c.wait(context.Background(), func(ctx context.Context) (*locks.Lease, error) {
		return writer.lease.(*locks.Lease).Downgrade(ctx)
	})
	w.queued(c)
}

// zkLock is what go-zookeeper's own lock has.
type zkLock struct{ *zk.Lock }

func (zkLock) Node() string                   { return "" }
func (zkLock) Token() messages.Token          { return 0 }
func (zkLock) Valid() bool                    { return true }
func (l zkLock) Unlock(context.Context) error { return l.Lock.Unlock() }

// strange has go-zookeeper's own lock ask.
func (w *world) strange(name, path string) {
	c := w.newCall(name, nil, path, "exclusive")
	l := zk.NewLock(w.stranger, w.root+path, zk.WorldACL(zk.PermAll))
	go func() {
		if err := l.Lock(); err != nil {
			c.fail(err)
			return
		}
		c.grant(zkLock{l})
		close(c.over)
	}()
}

// plant makes a node, and those above it.
func (w *world) plant(path, data string, flags int32, acl []zk.ACL) {
	for i := 1; i < len(path); i++ {
		if path[i] == '/' {
			if _, err := w.stranger.Create(w.root+path[:i], nil, 0, zk.WorldACL(zk.PermAll)); err != zk.ErrNodeExists {
				require.NoError(w.t, err)
			}
		}
	}
	made, err := w.stranger.Create(w.root+path, []byte(data), flags, acl)
	require.NoError(w.t, err)
	w.planted[path] = made
}

// breaks breaks all contenders of a path, or without one what is none.
func (w *world) breaks(by *locks.Client, path string) {
	all := []messages.Contender{{}, {Path: "/kept", Token: 1}, {Path: "kept", Node: "lock-0000000001", Token: 1},
		{Path: "/kept", Node: "config", Token: 1}, {Path: "/kept", Node: "lock-0000000001"},
		{Path: "/kept", Node: "lock-0000000001", Token: 1}, {Path: "/none", Node: "lock-0000000001", Token: 1}}
	if path != "" {
		var err error
		all, err = by.Queue(w.deadline(), path)
		require.NoError(w.t, err)
	}
	for _, c := range all {
		w.says("break", by.Break(w.deadline(), c))
	}
}

// look remembers who holds at a call's path, or waits: the contender of its node.
func (w *world) look(name string) {
	path, node := w.call(name).path, w.node(name)
	all, err := w.operator().Queue(w.deadline(), path)
	require.NoError(w.t, err)
	for _, c := range all {
		if w.root+c.At() == node {
			w.seen[name] = c
		}
	}
}

// answer is the answer to a question.
func (w *world) answer(question, first, second string) string {
	ctx := w.deadline()
	var lines []string
	var err error
	switch question {
	case "queue":
		var all []messages.Contender
		all, err = w.locks(first).Queue(ctx, second)
		for _, c := range all {
			lines = append(lines, w.contender(c))
		}
	case "inside":
		var answer any
		answer, err = w.client(first).session.Ask(ctx, &messages.ReadInside{Root: second})
		if err == nil {
			in := answer.(*messages.Inside)
			for _, c := range in.Waiting {
				lines = append(lines, c.Path+" "+w.contender(c))
			}
			if in.Reason != "" {
				lines = append(lines, string(in.Reason))
			}
		}
	case "locks":
		var tree *messages.LockTree
		if tree, err = w.locks(first).Locks(ctx, second); err == nil {
			for _, l := range tree.Locks {
				lines = append(lines, strings.Join(strings.Fields(fmt.Sprint(l.Path, " ", l.Name, " ", map[bool]string{true: "contest"}[l.Contest], " ", l.Holders, " + ", l.Waiters)), " "))
			}
			for _, u := range tree.Unread {
				lines = append(lines, fmt.Sprint(u.Path, ": ", u.Reason))
			}
		}
	case "missing":
		var path string
		if path, err = w.locks(first).Missing(ctx, second); err == nil {
			lines = append(lines, second+" misses "+path)
		}
	case "nodes":
		_, err = w.stranger.Sync(w.root)
		require.NoError(w.t, err)
		lines, _, err = w.stranger.Children(w.root + first)
		slices.SortFunc(lines, func(a, b string) int {
			x, _ := queue.Sequence(a)
			y, _ := queue.Sequence(b)
			return int(x-y)*1000 + strings.Compare(a, b)
		})
		for i, node := range lines {
			lines[i] = digits.ReplaceAllString(hex.ReplaceAllString(uuid.ReplaceAllString(node, "UUID"), "HEX"), "#")
		}
	case "data":
		_, err = w.stranger.Sync(w.root)
		require.NoError(w.t, err)
		var data []byte
		data, _, err = w.stranger.Get(w.root + first)
		lines = append(lines, string(data))
	default:
		require.Fail(w.t, "what is that?", question)
	}
	if err != nil && err != zk.ErrNoNode {
		return question + ": " + failed(err) + "\n"
	}
	if len(lines) == 0 {
		return question + ": nobody\n"
	}
	return strings.Join(lines, "\n") + "\n"
}

var digits = regexp.MustCompile(`\d{10}$`)

// contender is what a queue says of one. What it says of the nodes of clients is held against what they know.
func (w *world) contender(c messages.Contender) string {
	var said []string
	add := func(format string, value any) {
		if text := fmt.Sprint(value); text != "" && text != "0" && !strings.Contains(text, "/nonhost/") { // who names no owner is an actor without a name
			said = append(said, fmt.Sprintf(format, value))
		}
	}
	for name, client := range w.clients {
		if client.session.ID() == c.Session {
			add("%s", name)
			host, _ := os.Hostname()
			if c.HasNode() && !c.Unread && (c.PID != os.Getpid() || c.Host != host || c.Who == "" || time.Since(c.Since).Abs() > bound) {
				said = append(said, fmt.Sprintf("wrong: %+v", c))
			}
		}
	}
	w.mu.Lock()
	for _, o := range w.calls {
		if o.lease != nil && o.lease.Node() == c.Node && c.HasNode() && (c.Token.Zxid() != o.lease.Token().Zxid() && !c.Unread || !c.Holds) && o.lease.Valid() {
			said = append(said, fmt.Sprintf("wrong: %+v", c))
		}
	}
	w.mu.Unlock()
	if c.HasNode() {
		add("%s", number(c.Node))
	}
	if c.Who != "" {
		if first, known := w.who[c.Who]; !known {
			w.who[c.Who] = c.At()
		} else if first != c.At() {
			add("as %s", first)
		}
	}
	add("%v", c.Mode)
	add("name=%s", c.Name)
	add("weight=%d", c.Weight)
	add("label=%s", c.Label)
	add("owner=%s", c.Owner)
	add("caller=%s", c.Caller)
	if c.Library != messages.LibraryTurnstile && c.HasNode() {
		said = append(said, "by "+cmp.Or(string(c.Library), "somebody"))
	}
	for i, is := range []bool{c.Holds, c.Asked, c.Unread} {
		if is {
			said = append(said, []string{"holds", "asked", "unread"}[i])
		}
	}
	add("behind %s", strings.Join(c.WaitsFor, " "))
	return strings.Join(said, " ")
}
