package actors

import (
	"fmt"
	"strings"

	"github.com/turnstile-locks/turnstile/actors/inspect"
	"github.com/turnstile-locks/turnstile/actors/queue"
	"github.com/turnstile-locks/turnstile/messages"
	"github.com/turnstile-locks/turnstile/zkconn"
)

// ErrBadAcquire: the request is not well formed.
var ErrBadAcquire = inspect.ErrBadQuery

// CheckAcquire checks a request for a lock. The error wraps zkconn.ErrBadPath for a bad lock path,
// or ErrBadAcquire, and names the value and the rule.
func CheckAcquire(want messages.Acquire) error {
	if err := zkconn.CheckPath(want.Path); err != nil {
		return err
	}
	for _, check := range []func(messages.Acquire) string{checkMode, checkNames, checkPermits, checkTimes, checkReclaim,
		checkDetection} {
		if wrong := check(want); wrong != "" {
			return fmt.Errorf("%w: %s", ErrBadAcquire, wrong)
		}
	}
	return nil
}

func checkMode(want messages.Acquire) string {
	switch {
	case !want.Mode.Known():
		return fmt.Sprintf("mode %d does not exist", want.Mode)
	case want.Mode == messages.Contest && (want.Name != "" || want.WatchAll):
		return "a contest has one node and no queue: there is nothing to name, and nothing more to watch"
	}
	return ""
}

// maxName bounds what the name of a queue adds to a contender's name, in bytes.
const maxName = 255

func checkNames(want messages.Acquire) string {
	switch {
	case !want.Naming.Known():
		return fmt.Sprintf("naming %d does not exist", want.Naming)
	case want.Name == "":
		return ""
	case want.Naming != messages.CuratorNaming:
		return fmt.Sprintf("name %q: a queue with a name has names of its own, not those of %v", want.Name, want.Naming)
	case len(want.Name) > maxName:
		return fmt.Sprintf("a name of %d bytes is longer than %d", len(want.Name), maxName)
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

func checkPermits(want messages.Acquire) string {
	switch {
	case want.Mode != messages.Semaphore && (want.Permits != 0 || want.Weight != 0):
		return fmt.Sprintf("permits %d, weight %d: only semaphores have permits", want.Permits, want.Weight)
	case want.Mode != messages.Semaphore:
		return ""
	case queue.CheckPermits(want.Permits) != "":
		return queue.CheckPermits(want.Permits)
	case want.Weight < 0:
		return fmt.Sprintf("weight %d is negative", want.Weight)
	case want.Weight > want.Permits:
		return fmt.Sprintf("weight %d is more than there are permits, %d", want.Weight, want.Permits)
	}
	return ""
}

// maxLabel bounds what a label adds to a contender's node, and maxKey an owner's key, in bytes.
const (
	maxLabel = 1024
	maxKey   = 1024
)

func checkReclaim(want messages.Acquire) string {
	switch {
	case want.Reclaim == "":
		return ""
	case len(want.Reclaim) > maxLabel:
		return fmt.Sprintf("a label to reclaim by of %d bytes is longer than %d", len(want.Reclaim), maxLabel)
	case want.Mode != messages.Exclusive:
		return fmt.Sprintf("to reclaim %q: only exclusive locks are reclaimed", want.Reclaim)
	case want.Sticky > 0 || want.Cohort > 1:
		return fmt.Sprintf("to reclaim %q: not with Sticky or Cohort, whose nodes do not tell the token", want.Reclaim)
	}
	return ""
}

func checkTimes(want messages.Acquire) string {
	switch {
	case want.Timeout < 0:
		return fmt.Sprintf("timeout %v is negative", want.Timeout)
	case want.Grace < 0:
		return fmt.Sprintf("grace %v is negative", want.Grace)
	case want.Sticky < 0:
		return fmt.Sprintf("sticky for %v: it is negative", want.Sticky)
	case want.Sticky > 0 && want.Mode != messages.Exclusive:
		return fmt.Sprintf("sticky for %v: only exclusive locks are", want.Sticky)
	case want.Cohort < 0 || want.Cohort > messages.MaxPlace:
		return fmt.Sprintf("a cohort of %d: it must be between 0 and %d", want.Cohort, messages.MaxPlace)
	case want.Cohort > 1 && (want.Mode != messages.Exclusive && want.Mode != messages.Read || want.WatchAll):
		return fmt.Sprintf("a cohort of %d: only exclusive locks and readers have them, whose waiters watch one node",
			want.Cohort)
	case want.Priority < 0:
		return fmt.Sprintf("priority %d is negative", want.Priority)
	case len(want.Label) > maxLabel:
		return fmt.Sprintf("a label of %d bytes is longer than %d", len(want.Label), maxLabel)
	case len(want.Owner) > maxKey || len(want.Caller) > maxKey:
		return fmt.Sprintf("a key of %d bytes is longer than %d", max(len(want.Owner), len(want.Caller)), maxKey)
	}
	return ""
}

func checkDetection(want messages.Acquire) string {
	d := want.Deadlocks
	switch {
	case d == messages.Detection{}:
		return ""
	case d.Every <= 0:
		return fmt.Sprintf("deadlocks are to be looked for every %v", d.Every)
	case want.Mode == messages.Contest:
		return "those who wait for a contest leave no trace by which a deadlock could be found"
	}
	if err := inspect.CheckRoot(d.Root); err != nil {
		return fmt.Sprintf("deadlocks are to be looked for below %q: %v", d.Root, err)
	}
	if want.Path != d.Root && !strings.HasPrefix(want.Path, strings.TrimSuffix(d.Root, "/")+"/") {
		return fmt.Sprintf("deadlocks are to be looked for below %s, where %s is not", d.Root, want.Path)
	}
	return ""
}
