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

// Provider provides locks: a *Session, gateways (package gateway), or in tests a fake or observed one
// (package actorstest).
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
	// the node is deleted only once Hear has returned, so the listener knows before anybody else
	// holds.
	Hear(lock *actor.PID, notice any)
}

// WithObserver names actors that get every notice of the lock actor, and every messages.Transition.
// One on another node is refused, unless WithRemote is set. messages.Observe adds one later.
func WithObserver(pids ...*actor.PID) LockOption {
	return func(a *audience.Audience) { a.Observers = append(a.Observers, pids...) }
}

// WithOwner names another actor than the parent whose end means Release; a restart is no end. One
// on another node is refused, unless WithRemote is set.
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
// (actor.TerminatedReason_AddressTerminated), the lock is given back, for messages.ReasonOwnerGone,
// at the end that the lease has then: until then the owner may rely on it. A request that waits is
// given up after a session timeout.
//
// An owner on another node gets notices late, or never, and no clock comes with them. To rely on
// the lock for a known time, use package gateway.
func WithRemote(pack func(message any) any) LockOption {
	return func(a *audience.Audience) { a.Pack = pack }
}

// ErrBadAcquire: the request is not well formed.
var ErrBadAcquire = inspect.ErrBadQuery

// CheckAcquire checks a request: every value must be well formed, and have an effect in its mode.
// The error wraps zkconn.ErrBadPath or ErrBadAcquire, and names value and rule.
func CheckAcquire(want messages.Acquire) error {
	if err := zkconn.CheckPath(want.Path); err != nil {
		return err
	}
	if !want.Mode.Known() {
		return fmt.Errorf("%w: mode %d does not exist", ErrBadAcquire, want.Mode)
	}
	all := reflect.ValueOf(want)
	for i := range fields {
		f, value := &fields[i], all.Field(i)
		if value.IsZero() && !(f.name == "Permits" && want.Mode == messages.Semaphore) {
			continue
		}
		if f.modes != nil && !slices.Contains(f.modes, want.Mode) {
			return fmt.Errorf("%w: %s %v has no effect in mode %v: %s", ErrBadAcquire, f.name, value, want.Mode, f.why)
		}
		wrong := ""
		switch {
		case value.CanInt() && value.Int() < 0:
			wrong = fmt.Sprintf("%s %v: it is negative", strings.ToLower(f.name), value)
		case f.most > 0 && value.Len() > f.most:
			wrong = fmt.Sprintf("%s of %d bytes is longer than %d", strings.ToLower(f.name), value.Len(), f.most)
		case f.check != nil:
			wrong = f.check(want)
		}
		if wrong != "" {
			return fmt.Errorf("%w: %s", ErrBadAcquire, wrong)
		}
	}
	return nil
}

// field is the rule for one field of messages.Acquire. Numbers are not negative.
type field struct {
	name string
	// modes are those in which the field has an effect; nil means all. why says why it has none in
	// others.
	modes []messages.Mode
	why   string
	// most is the greatest length of a text in bytes; zero for any.
	most int
	// check gives the fault of a value, "" for none. Without it every value is good.
	check func(messages.Acquire) string
}

var (
	queued    = []messages.Mode{messages.Exclusive, messages.Read, messages.Write, messages.Semaphore}
	unlimited = []messages.Mode{messages.Exclusive, messages.Read, messages.Write} // with a queue, and without permits
	exclusive = []messages.Mode{messages.Exclusive}
	permits   = []messages.Mode{messages.Semaphore}
)

// rules has what may be asked for of which kind of lock. A field of messages.Acquire without a row
// has an effect on all.
var rules = map[string]field{
	"Name":   {modes: queued, why: "a contest has one node and no queue", most: maxName, check: checkName},
	"Naming": {modes: unlimited, why: "the names of its nodes have one form", check: checkNaming},
	"Permits": {modes: permits, why: "only semaphores have permits",
		check: func(a messages.Acquire) string { return queue.CheckPermits(a.Permits) }},
	"Weight": {modes: permits, why: "only semaphores have permits",
		check: func(a messages.Acquire) string { return queue.CheckPermits(a.Weight) }},
	"ExactPermits": {modes: permits, why: "only semaphores have permits"},
	"WatchAll":     {modes: unlimited, why: "what its waiters watch is settled"},
	"Beside": {modes: []messages.Mode{messages.Read}, why: "only a reader takes the lock at a writer's place",
		check: checkBeside},
	"Owner":  {most: maxKey},
	"Caller": {most: maxKey},
	"Deadlocks": {modes: queued, why: "those who wait for a contest leave no trace by which a deadlock could be found",
		check: checkDetection},
	"Label":    {most: maxLabel},
	"Reclaim":  {modes: exclusive, why: "only exclusive locks are reclaimed", most: maxLabel},
	"Priority": {modes: exclusive, why: "only candidates in an election have one"},
}

// fields are those of messages.Acquire, in order.
var fields = func() (all []field) {
	for _, of := range reflect.VisibleFields(reflect.TypeFor[messages.Acquire]()) {
		f := rules[of.Name]
		f.name = of.Name
		all = append(all, f)
	}
	return all
}()

// The greatest lengths, in bytes, of texts in the contender's node: name, label, and the key of an
// owner or a caller.
const (
	maxName  = 255
	maxLabel = 1024
	maxKey   = 1024
)

func checkName(want messages.Acquire) string {
	switch {
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
