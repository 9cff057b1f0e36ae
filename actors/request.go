package actors

import (
	"fmt"
	"reflect"
	"slices"
	"strings"

	"github.com/asynkron/protoactor-go/actor"

	"github.com/turnstile-locks/turnstile/actors/inspect"
	"github.com/turnstile-locks/turnstile/actors/internal/audience"
	"github.com/turnstile-locks/turnstile/actors/queue"
	"github.com/turnstile-locks/turnstile/messages"
	"github.com/turnstile-locks/turnstile/zkconn"
)

// Provider provides locks: a *Session, or gateways (package gateway).
type Provider interface {
	// NewLock makes the props of a lock actor.
	NewLock(want messages.Acquire, opts ...LockOption) *actor.Props
	// Clock gives the lease clock of a grant, by its messages.Held.Epoch.
	Clock(epoch uint64) *zkconn.LeaseClock
}

// LockOption changes how a lock actor works: it names those to whom it reports.
type LockOption func(*audience.Audience)

// Listener hears what a lock actor tells, without being an actor. The lock actor calls its methods,
// one at a time; they must not block.
type Listener interface {
	// Moved tells every change of state. node is the contender's node, "" for none.
	Moved(to messages.State, node string)
	// Hear takes the notices of a parent, and *actor.Stopped as the last. After *messages.Revoked
	// the lock actor deletes the node only once Hear has returned, so that the listener knows
	// before anybody else holds.
	Hear(lock *actor.PID, notice any)
}

// WithObserver names actors that get every notice of the lock actor, as its parent does, and every
// messages.Transition. One on another node is refused, unless WithRemote is set.
func WithObserver(pids ...*actor.PID) LockOption {
	return func(a *audience.Audience) { a.Observers = append(a.Observers, pids...) }
}

// WithOwner names an actor whose end means Release. The parent needs no naming: its lock actors
// stop before it. An owner that its supervisor restarts has not ended. One on another node is
// refused, unless WithRemote is set.
func WithOwner(pid *actor.PID) LockOption {
	return func(a *audience.Audience) { a.Owner = pid }
}

// WithListener sets the listener.
func WithListener(to Listener) LockOption {
	return func(a *audience.Audience) { a.Listener = to }
}

// WithRemote lets the parent, the owner and the observers of a lock actor run on other nodes. pack
// turns a message of package messages into one that protoactor's remote can send: wire.Pack, of
// package actors/gateway/wire. It is an argument so that programs without remote actors do not link
// gRPC. Other lock actors take no messages of other nodes where gateway.WithRecovery is set.
//
// When the node of the owner, or of a parent, goes out of reach
// (actor.TerminatedReason_AddressTerminated), the owner may still rely on the lock. The lock is
// given back, for messages.ReasonOwnerGone, at the end that the lease had at that moment: the owner
// cannot have been promised more. A request that waits is given up after a session timeout.
//
// An owner on another node gets notices late, or never, and no clock comes with them. To rely on
// the lock for a known time, use package gateway.
func WithRemote(pack func(message any) any) LockOption {
	return func(a *audience.Audience) { a.Pack = pack }
}

// ErrBadAcquire: the request is not well formed.
var ErrBadAcquire = inspect.ErrBadQuery

// CheckAcquire checks a request for a lock: every value must be well formed, and must have an
// effect in its mode. The error wraps zkconn.ErrBadPath for a bad lock path, or ErrBadAcquire, and
// names the value and the rule.
func CheckAcquire(want messages.Acquire) error {
	if err := zkconn.CheckPath(want.Path); err != nil {
		return err
	}
	if !want.Mode.Known() {
		return fmt.Errorf("%w: mode %d does not exist", ErrBadAcquire, want.Mode)
	}
	for _, f := range fields {
		if !f.given(want) {
			continue
		}
		if f.modes != nil && !slices.Contains(f.modes, want.Mode) {
			value := reflect.ValueOf(want).FieldByName(f.name)
			return fmt.Errorf("%w: %s %v has no effect in mode %v: %s", ErrBadAcquire, f.name, value, want.Mode, f.why)
		}
		if f.check == nil {
			continue
		}
		if wrong := f.check(want); wrong != "" {
			return fmt.Errorf("%w: %s", ErrBadAcquire, wrong)
		}
	}
	return nil
}

type field struct {
	name  string
	given func(messages.Acquire) bool
	// modes are the modes of locks on which the field has an effect; nil means all. why says why it
	// has none on others.
	modes []messages.Mode
	why   string
	// check gives the fault of a given value; "" for none. Without it every value is good.
	check func(messages.Acquire) string
}

var (
	queued    = []messages.Mode{messages.Exclusive, messages.Read, messages.Write, messages.Semaphore}
	unlimited = []messages.Mode{messages.Exclusive, messages.Read, messages.Write} // with a queue, and without permits
	exclusive = []messages.Mode{messages.Exclusive}
	permits   = []messages.Mode{messages.Semaphore}
)

// fields has a row for every field of messages.Acquire but Path and Mode: what may be asked for of
// which kind of lock. A test finds a field without a row.
var fields = []field{
	{name: "Name", given: func(a messages.Acquire) bool { return a.Name != "" }, modes: queued,
		why: "a contest has one node and no queue", check: checkName},
	{name: "Naming", given: func(a messages.Acquire) bool { return a.Naming != messages.CuratorNaming }, modes: unlimited,
		why: "the names of its nodes have one form", check: checkNaming},
	{name: "Permits", given: func(a messages.Acquire) bool { return a.Permits != 0 || a.Mode == messages.Semaphore },
		modes: permits, why: "only semaphores have permits",
		check: func(a messages.Acquire) string { return queue.CheckPermits(a.Permits) }},
	{name: "Weight", given: func(a messages.Acquire) bool { return a.Weight != 0 }, modes: permits,
		why: "only semaphores have permits", check: checkWeight},
	{name: "WatchAll", given: func(a messages.Acquire) bool { return a.WatchAll }, modes: unlimited,
		why: "what its waiters watch is settled"},
	{name: "Timeout", given: func(a messages.Acquire) bool { return a.Timeout != 0 }, check: func(a messages.Acquire) string {
		return negative("timeout", a.Timeout)
	}},
	{name: "Try", given: func(a messages.Acquire) bool { return a.Try }},
	{name: "Grace", given: func(a messages.Acquire) bool { return a.Grace != 0 }, check: func(a messages.Acquire) string {
		return negative("grace", a.Grace)
	}},
	{name: "Beside", given: func(a messages.Acquire) bool { return a.Beside != "" }, modes: []messages.Mode{messages.Read},
		why: "only a reader takes the lock at a writer's place", check: checkBeside},
	{name: "Owner", given: func(a messages.Acquire) bool { return a.Owner != "" }, check: func(a messages.Acquire) string {
		return tooLong("an owner", a.Owner, maxKey)
	}},
	{name: "Caller", given: func(a messages.Acquire) bool { return a.Caller != "" }, check: func(a messages.Acquire) string {
		return tooLong("a caller", a.Caller, maxKey)
	}},
	{name: "Deadlocks", given: func(a messages.Acquire) bool { return a.Deadlocks != messages.Detection{} }, modes: queued,
		why: "those who wait for a contest leave no trace by which a deadlock could be found", check: checkDetection},
	{name: "Label", given: func(a messages.Acquire) bool { return a.Label != "" }, check: func(a messages.Acquire) string {
		return tooLong("a label", a.Label, maxLabel)
	}},
	{name: "Reclaim", given: func(a messages.Acquire) bool { return a.Reclaim != "" }, modes: exclusive,
		why: "only exclusive locks are reclaimed", check: func(a messages.Acquire) string {
			return tooLong("a key to reclaim with", a.Reclaim, maxLabel)
		}},
	{name: "Priority", given: func(a messages.Acquire) bool { return a.Priority != 0 }, modes: exclusive,
		why: "only candidates in an election have one", check: func(a messages.Acquire) string {
			return negative("priority", a.Priority)
		}},
	{name: "TellMore", given: func(a messages.Acquire) bool { return a.TellMore }},
}

// The greatest lengths, in bytes, of texts in the contender's node: name, label, and the key of an
// owner or a caller.
const (
	maxName  = 255
	maxLabel = 1024
	maxKey   = 1024
)

func negative[N ~int | ~int64](what string, n N) string {
	if n < 0 {
		return fmt.Sprintf("%s %v: it is negative", what, n)
	}
	return ""
}

func tooLong(what, text string, most int) string {
	if len(text) > most {
		return fmt.Sprintf("%s of %d bytes is longer than %d", what, len(text), most)
	}
	return ""
}

func checkName(want messages.Acquire) string {
	switch {
	case len(want.Name) > maxName:
		return tooLong("a name", want.Name, maxName)
	case strings.ContainsAny(want.Name, "/\x00"):
		return fmt.Sprintf("name %q has a slash or a NUL", want.Name)
	case strings.HasPrefix(want.Name, "_c_"):
		return fmt.Sprintf("name %q begins like a GUID, with _c_", want.Name)
	}
	if err := zkconn.CheckPath("/" + want.Name + "_"); err != nil {
		return fmt.Sprintf("name %q: %v", want.Name, err)
	}
	return ""
}

func checkNaming(want messages.Acquire) string {
	switch {
	case !want.Naming.Known():
		return fmt.Sprintf("naming %d does not exist", want.Naming)
	case want.Name != "":
		return fmt.Sprintf("name %q: a queue with a name has names of its own, not those of %v", want.Name, want.Naming)
	}
	return ""
}

func checkWeight(want messages.Acquire) string {
	switch {
	case want.Weight < 0:
		return negative("weight", want.Weight)
	case want.Weight > want.Permits:
		return fmt.Sprintf("weight %d is more than there are permits, %d", want.Weight, want.Permits)
	}
	return ""
}

func checkBeside(want messages.Acquire) string {
	style, is := queue.Parse(want.Beside)
	writes := style.Mode == messages.Write || style.Mode == messages.Exclusive && want.Naming == messages.KazooNaming // one name for both
	if !is || !writes || style.Name != want.Name || strings.Contains(want.Beside, "/") {
		return fmt.Sprintf("beside %.100q: that is no writer's node of the queue", want.Beside)
	}
	return ""
}

func checkDetection(want messages.Acquire) string {
	d := want.Deadlocks
	if d.Every <= 0 {
		return fmt.Sprintf("deadlocks are to be looked for every %v: it must be above zero", d.Every)
	}
	if err := inspect.CheckRoot(d.Root); err != nil {
		return fmt.Sprintf("deadlocks are to be looked for below %q: %v", d.Root, err)
	}
	if want.Path != d.Root && !strings.HasPrefix(want.Path, strings.TrimSuffix(d.Root, "/")+"/") {
		return fmt.Sprintf("deadlocks are to be looked for below %s, where %s is not", d.Root, want.Path)
	}
	return ""
}
