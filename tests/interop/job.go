package interop

import (
	"fmt"
	"time"
)

// Recipe is a lock of the other client's.
type Recipe string

// The recipes.
const (
	// Mutex is InterProcessMutex, and kazoo's Lock.
	Mutex Recipe = "mutex"
	// Read and Write are the two sides of InterProcessReadWriteLock, and kazoo's
	// ReadLock and WriteLock.
	Read  Recipe = "read"
	Write Recipe = "write"
	// ReadWrite has every thread read twice for each time that it writes.
	ReadWrite Recipe = "readwrite"
	// Semaphore is InterProcessSemaphoreV2, and kazoo's Semaphore.
	Semaphore Recipe = "semaphore"
)

// Task names the work to do with a recipe.
type Task string

// The tasks.
const (
	// Contest has all threads acquire, hold and release as often as Rounds says.
	Contest Task = "contest"
	// Downgrading, Asking and Revocable are Curator's, of one session each: a writer that becomes a reader, asking the
	// holder to release, and holding until asked.
	Downgrading Task = "downgrading"
	Asking      Task = "asking"
	Revocable   Task = "revocable"
	// Bench is a contest without anybody to tell, for benchmarks: all threads acquire and release until Span is
	// over, which begins when each has held and Warm is over, and there is something to count; or, with a Guard, until that says stop. Queueing has
	// Threads waiters queue behind a holder, and then hold one after the other. Both find out when two hold at
	// once, and fill Summary.Timing.
	Bench    Task = "bench"
	Queueing Task = "queueing"
)

// How kazoo is to share a queue, as [Job.Names]; without, it is as it comes.
const (
	// CuratorNames has kazoo name its nodes as Curator does.
	CuratorNames = "curator"
	// ExtraPatterns has kazoo's Lock wait for nodes named as Curator does, too; its own keep their name.
	ExtraPatterns = "extra-patterns"
)

// defaultLimit bounds a job, however slow the machine is.
const defaultLimit = 60 * time.Second

// Job is one thing for a worker to do. Connect, Recipe and Path are needed; what
// else is left out is one, or nothing, or has the worker's own default.
type Job struct {
	Name     string // first part of its holders' names: <name>/<session>.<thread>, from 1
	Task     Task   // Contest when empty
	Recipe   Recipe
	Connect  string // ZooKeeper's connect string, maybe with a chroot
	Path     string // the lock path
	Witness  string // a witness's address; nobody is told when empty
	Names    string // kazoo only: how nodes are named
	Sessions int    // client sessions
	Threads  int    // threads on each session
	Rounds   int    // how often each thread holds
	Permits  int    // of a semaphore
	Hold     time.Duration
	// Patience bounds one attempt to acquire, 0 does not. In a contest, an attempt
	// that timed out is counted, and made again.
	Patience       time.Duration
	SessionTimeout time.Duration
	Limit          time.Duration // the whole job's

	// Of Bench alone. Apart has each thread lock a path of its own, Path/0 and so on. Guard is a
	// file that several processes map, in which they count: see python/guard.py for its layout.
	// Process is the number of this process, from 0.
	Warm, Span time.Duration
	Apart      bool
	Guard      string
	Process    int
}

// Holder is the name by which the witness knows a thread.
func (j Job) Holder(session, thread int) string {
	return fmt.Sprintf("%s/%d.%d", j.Name, session, thread)
}

// limit bounds the job.
func (j Job) limit() time.Duration { return orDefault(j.Limit, defaultLimit) }

// arguments renders the job for a worker: key=value. No value has a space in it.
func (j Job) arguments() []string {
	apart := 0
	if j.Apart {
		apart = 1
	}
	return []string{
		"name=" + orDefault(j.Name, "worker"),
		"task=" + orDefault(string(j.Task), string(Contest)),
		"recipe=" + string(j.Recipe),
		"connect=" + j.Connect,
		"path=" + j.Path,
		"witness=" + j.Witness,
		"names=" + j.Names,
		"guard=" + j.Guard,
		fmt.Sprintf("sessions=%d", max(j.Sessions, 1)),
		fmt.Sprintf("threads=%d", max(j.Threads, 1)),
		fmt.Sprintf("rounds=%d", max(j.Rounds, 1)),
		fmt.Sprintf("permits=%d", max(j.Permits, 1)),
		fmt.Sprintf("hold_ms=%d", j.Hold.Milliseconds()),
		fmt.Sprintf("patience_ms=%d", j.Patience.Milliseconds()),
		fmt.Sprintf("session_timeout_ms=%d", orDefault(j.SessionTimeout, 30*time.Second).Milliseconds()),
		fmt.Sprintf("limit_ms=%d", j.limit().Milliseconds()),
		fmt.Sprintf("warm_ms=%d", j.Warm.Milliseconds()),
		fmt.Sprintf("span_ms=%d", j.Span.Milliseconds()),
		fmt.Sprintf("apart=%d", apart),
		fmt.Sprintf("process=%d", j.Process),
	}
}

func orDefault[T comparable](value, otherwise T) T {
	var zero T
	if value == zero {
		return otherwise
	}
	return value
}
