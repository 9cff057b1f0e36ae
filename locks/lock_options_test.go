package locks

import (
	"context"
	"errors"
	"fmt"
	"go/ast"
	"slices"
	"testing"
	"time"

	"github.com/asynkron/protoactor-go/actor"
	"github.com/stretchr/testify/require"

	"github.com/turnstile-locks/turnstile/messages"
	"github.com/turnstile-locks/turnstile/zkconn/embedded"
)

// columns are the kinds of locks and what takes options besides, in the order of the signs in
// optionTable. A kind that is asked for in several ways answers the same in all of them.
var columns = []struct {
	takes string // the function or method that takes options
	ask   func(ctx context.Context, c *Client, path string, opt any) []error
}{
	{"Mutex", func(ctx context.Context, c *Client, path string, opt any) []error {
		m := c.Mutex(path, optionFor[LockOption](opt)...)
		return append(everyWay(ctx, m), lockAndUnlock(ctx, m.TryLock))
	}},
	{"Keyed", func(ctx context.Context, c *Client, path string, opt any) []error {
		k := c.Keyed(path, optionFor[LockOption](opt)...)
		lock := func(ctx context.Context) (*Lease, error) { return k.Lock(ctx, "a/b") }
		try := func(ctx context.Context) (*Lease, error) { return k.TryLock(ctx, "a/b") }
		byName := errors.Join(k.ByName().Lock(ctx, ""), k.ByName().Unlock(ctx, ""))
		return append(everyWay(ctx, k.Mutex("a/b")), lockAndUnlock(ctx, lock), lockAndUnlock(ctx, try), byName)
	}},
	{"RWMutex", func(ctx context.Context, c *Client, path string, opt any) []error {
		m := c.RWMutex(path, optionFor[LockOption](opt)...)
		return append(everyWay(ctx, m), lockAndUnlock(ctx, m.TryLock))
	}},
	{"RWMutex", func(ctx context.Context, c *Client, path string, opt any) []error {
		m := c.RWMutex(path, optionFor[LockOption](opt)...)
		return append(everyWay(ctx, m.Reader()), lockAndUnlock(ctx, m.RLock), lockAndUnlock(ctx, m.TryRLock))
	}},
	{"Semaphore", func(ctx context.Context, c *Client, path string, opt any) []error {
		s := c.Semaphore(path, 2, optionFor[LockOption](opt)...)
		try := func(ctx context.Context) (*Lease, error) { return s.TryAcquire(ctx, 1) }
		return append(everyWay(ctx, s.Weight(1)), lockAndUnlock(ctx, try))
	}},
	{"Contest", func(ctx context.Context, c *Client, path string, opt any) []error {
		m := c.Contest(path, optionFor[LockOption](opt)...)
		return append(everyWay(ctx, m), lockAndUnlock(ctx, m.TryLock))
	}},
	{"Election", func(ctx context.Context, c *Client, path string, opt any) []error {
		e := c.Election(path, optionFor[ElectionOption](opt)...)
		campaign := func(ctx context.Context) (*Lease, error) {
			term, err := e.Campaign(ctx, "me")
			if err != nil {
				return nil, err
			}
			return term.Lease, nil
		}
		return []error{lockAndUnlock(ctx, campaign),
			e.Run(ctx, "me", func(context.Context, *Leadership) error { return nil })}
	}},
	{"RunOnce", func(ctx context.Context, c *Client, path string, opt any) []error {
		_, err := RunOnce(ctx, c, path, 0, func(context.Context, Token) error { return nil },
			optionFor[OnceOption](opt)...)
		return []error{err}
	}},
	{"RunOnceFor", func(ctx context.Context, c *Client, path string, opt any) []error {
		_, err := RunOnceFor(ctx, c, path, time.Now(), func(context.Context, Token) error { return nil },
			optionFor[InstantOption](opt)...)
		return []error{err}
	}},
}

// optionTable says of every option of a lock what each column answers: + accepts it, - refuses it
// with ErrBadAcquire because it has no effect there, and a dot is a mistake that the compiler
// finds.
//
//	Mutex, Keyed, RWMutex for writing, RWMutex for reading, Semaphore, Contest, Election, RunOnce, RunOnceFor
var optionTable = map[string]struct {
	signs string
	give  func(c *Client) any
}{
	"WithLabel":         {"++++++-++", func(*Client) any { return WithLabel("me") }},
	"WithGrace":         {"+++++++++", func(*Client) any { return WithGrace(time.Hour) }},
	"WithSticky":        {"++-----++", func(*Client) any { return WithSticky(time.Hour) }},
	"WithCohort":        {"++++--+++", func(*Client) any { return WithCohort(3) }}, // the readers of an RWMutex share nodes
	"WithReclaim":       {"++----+++", func(*Client) any { return WithReclaim("me") }},
	"WithReentry":       {"++++-++++", func(*Client) any { return WithReentry() }},
	"WithName":          {"+++++-+++", func(*Client) any { return WithName("n") }},
	"WithNaming":        {"++++--+++", func(*Client) any { return WithNaming(messages.KazooNaming) }},
	"WithWatchAll":      {"++++--+--", func(*Client) any { return WithWatchAll() }},
	"WithExactPermits":  {"----+----", func(*Client) any { return WithExactPermits() }},
	"WithMaxWaiters":    {"+++++-+--", func(*Client) any { return WithMaxWaiters(1) }},
	"WithMaxHold":       {"+++++++++", func(*Client) any { return WithMaxHold(time.Hour) }},
	"WithOnLost":        {"+++++++++", func(*Client) any { return WithOnLost(func(string, error) {}) }},
	"WithOnChange":      {"+++++++++", func(*Client) any { return WithOnChange(func(Change) {}) }},
	"WithPriority":      {"......+..", func(*Client) any { return WithPriority(1, time.Hour) }},
	"WithMarkFirst":     {".......+-", func(*Client) any { return WithMarkFirst() }},
	"WithRetryAfter":    {".......++", func(*Client) any { return WithRetryAfter(time.Hour) }},
	"WithStartDeadline": {"........+", func(*Client) any { return WithStartDeadline(time.Hour) }},
	"WithCatchUp": {"........+", func(*Client) any {
		return WithCatchUp(func(at time.Time) time.Time { return at.Add(time.Hour) }, 1)
	}},
	"WithWaiting": {".......++", func(*Client) any { return WithWaiting() }},
	"WithDeadlockDetection": {"+++++-+--", func(*Client) any {
		return WithDeadlockDetection("/", time.Hour)
	}},
	"WithObserver": {"+++++++++", func(c *Client) any {
		return WithObserver(c.System().Root.Spawn(actor.PropsFromFunc(func(actor.Context) {})))
	}},
}

// TestEveryOptionOnEveryKind has an effect, or is refused.
func TestEveryOptionOnEveryKind(t *testing.T) {
	server := embedded.Run(t)
	client, err := Open(t.Context(), server.Addr(), WithSessionTimeout(30*time.Second))
	require.NoError(t, err)
	defer func() { require.NoError(t, client.Close(context.WithoutCancel(t.Context()))) }()
	for name, row := range optionTable {
		require.Len(t, row.signs, len(columns), name)
		for i, column := range columns {
			at := fmt.Sprintf("%s of %s (%d)", name, column.takes, i)
			opt := row.give(client)
			if !fits(column.takes, opt) {
				require.Equal(t, ".", row.signs[i:i+1], at)
				continue
			}
			ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
			for way, err := range column.ask(ctx, client, fmt.Sprintf("/%s/%d", name, i), opt) {
				switch row.signs[i] {
				case '+':
					require.NoError(t, err, "%s, way %d", at, way)
				case '-':
					require.ErrorIs(t, err, ErrBadAcquire, "%s, way %d", at, way)
				default:
					require.Fail(t, "it compiles", at)
				}
			}
			cancel()
		}
	}
}

// TestOptionsAreAllTried: every function that gives an option of a lock has a row, and every one
// that takes them a column.
func TestOptionsAreAllTried(t *testing.T) {
	given, taken := 0, map[string]bool{}
	for _, file := range files(t) {
		for _, decl := range file.Decls {
			d, is := decl.(*ast.FuncDecl)
			if !is || !d.Name.IsExported() {
				continue
			}
			if d.Recv == nil && d.Type.Results != nil && isOption(d.Type.Results.List[0].Type) {
				given++
				require.Contains(t, optionTable, d.Name.Name)
			}
			for _, param := range d.Type.Params.List {
				if all, variadic := param.Type.(*ast.Ellipsis); variadic && isOption(all.Elt) {
					taken[d.Name.Name] = true
				}
			}
		}
	}
	require.Len(t, optionTable, given)
	tried := map[string]bool{}
	for _, column := range columns {
		tried[column.takes] = true
	}
	require.Equal(t, taken, tried)
}

// TestBadValuesOfOptions: refused, and not only without effect.
func TestBadValuesOfOptions(t *testing.T) {
	for _, opt := range []LockOption{WithMaxHold(-1), WithDeadlockDetection("", 0), WithDeadlockDetection("/", 0), WithDeadlockDetection("/", -1)} {
		l := newLock(forLocking, &Client{}, messages.Acquire{Path: "/a"}, []LockOption{opt})
		require.ErrorIs(t, l.wrong, ErrBadAcquire)
		_, err := l.acquire(t.Context())
		require.ErrorIs(t, err, ErrBadAcquire)
		_, err = All(t.Context(), &Mutex{newLock(forLocking, &Client{}, messages.Acquire{Path: "/b"}, []LockOption{})}, &Mutex{l})
		require.ErrorIs(t, err, ErrBadAcquire, "before any is taken")
	}
	for _, opts := range [][]OnceOption{{WithRetryAfter(-1)}, {WithMarkFirst(), WithRetryAfter(1)}} {
		require.ErrorIs(t, newLock(forRunOnce, nil, messages.Acquire{}, opts).wrong, ErrBadAcquire)
	}
	for _, opt := range []InstantOption{WithRetryAfter(-1), WithStartDeadline(-1), WithMarkFirst(), WithCatchUp(nil, 1),
		WithCatchUp(func(at time.Time) time.Time { return at }, -1)} {
		require.ErrorIs(t, newLock(forInstant, nil, messages.Acquire{}, []InstantOption{opt}).wrong, ErrBadAcquire)
	}
	waits := []OnceOption{WithWaiting(), WithWatchAll(), WithMaxWaiters(1), WithDeadlockDetection("/", time.Hour)}
	require.NoError(t, newLock(forRunOnce, nil, messages.Acquire{}, waits).wrong)
}

// TestOptionsOfASessionOverGateways have no effect, and are refused.
func TestOptionsOfASessionOverGateways(t *testing.T) {
	for _, opt := range []Option{WithSessionTimeout(time.Second), WithMaxWaiting(1),
		WithActorSystem(actor.NewActorSystem())} {
		_, err := NewClient(nil, nil, opt)
		require.ErrorIs(t, err, ErrBadAcquire)
	}
	client, err := NewClient(actor.NewActorSystem(), nil, WithTracerProvider(nil), WithUnreleased(time.Hour, func(Unreleased) {}))
	require.NoError(t, err)
	require.NotNil(t, client.open)
}

func isOption(expr ast.Expr) bool {
	name, is := expr.(*ast.Ident)
	return is && slices.Contains([]string{"LockOption", "ElectionOption", "OnceOption", "InstantOption"}, name.Name)
}

// fits reports whether the compiler takes an option.
func fits(takes string, opt any) (is bool) {
	switch takes {
	case "Election":
		_, is = opt.(ElectionOption)
	case "RunOnce":
		_, is = opt.(OnceOption)
	case "RunOnceFor":
		_, is = opt.(InstantOption)
	default:
		_, is = opt.(LockOption)
	}
	return is
}

func optionFor[Option any](opt any) []Option { return []Option{opt.(Option)} }

// everyWay asks for a lock in every way that all kinds have.
func everyWay(ctx context.Context, l Locker) []error {
	leases, err := All(ctx, l)
	if err == nil {
		err = leases.Unlock(ctx)
	}
	return []error{
		lockAndUnlock(ctx, l.Lock), lockAndUnlock(ctx, Try(l).Lock), err,
		Do(ctx, l, func(context.Context, Token) error { return nil }),
	}
}

func lockAndUnlock(ctx context.Context, lock func(context.Context) (*Lease, error)) error {
	lease, err := lock(ctx)
	if err != nil {
		return err
	}
	return errors.Join(lease.Unlock(ctx), ctx.Err())
}
