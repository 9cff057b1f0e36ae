package wire

import (
	"time"

	"github.com/turnstile-locks/turnstile/messages"
)

// FromAcquire gives what is asked for as it crosses.
func FromAcquire(a messages.Acquire) *Acquire {
	return &Acquire{
		Path: a.Path, Mode: uint32(a.Mode), Name: a.Name, Naming: uint32(a.Naming),
		Permits: int64(a.Permits), Weight: int64(a.Weight), WatchAll: a.WatchAll, Timeout: int64(a.Timeout), Try: a.Try,
		Grace: int64(a.Grace), Sticky: int64(a.Sticky), Cohort: int64(a.Cohort), Owner: a.Owner, Reentry: a.Reentry,
		Caller: a.Caller, DetectionRoot: a.Deadlocks.Root, DetectionEvery: int64(a.Deadlocks.Every), Label: a.Label,
		Priority: int64(a.Priority), Reclaim: a.Reclaim,
	}
}

// Messages gives what is asked for. Numbers that stand for nothing here stay so:
// actors.CheckAcquire refuses them.
func (x *Acquire) Messages() messages.Acquire {
	return messages.Acquire{
		Path: x.GetPath(), Mode: messages.Mode(small(x.GetMode())), Name: x.GetName(),
		Naming:  messages.Naming(small(x.GetNaming())),
		Permits: int(x.GetPermits()), Weight: int(x.GetWeight()), WatchAll: x.GetWatchAll(),
		Timeout: time.Duration(x.GetTimeout()), Try: x.GetTry(), Grace: time.Duration(x.GetGrace()),
		Sticky: time.Duration(x.GetSticky()), Cohort: int(x.GetCohort()), Owner: x.GetOwner(), Reentry: x.GetReentry(),
		Caller: x.GetCaller(), Label: x.GetLabel(), Priority: int(x.GetPriority()), Reclaim: x.GetReclaim(),
		Deadlocks: messages.Detection{Root: x.GetDetectionRoot(), Every: time.Duration(x.GetDetectionEvery())},
	}
}

// small gives a number as a byte; one that does not fit becomes 255, which stands for nothing
// either.
func small(n uint32) uint8 { return uint8(min(n, 255)) }
