package walk

import "github.com/turnstile-locks/turnstile/messages"

// The words of plans: each says something of every request, or of every session.

// The session of each request.
var (
	single   = []int{0}
	two      = []int{0, 0}
	apart    = []int{0, 1}
	twoOne   = []int{0, 0, 1}
	oneTwo   = []int{0, 1, 1}
	three    = []int{0, 0, 0}
	threeOne = []int{0, 0, 0, 1}
	four     = []int{0, 0, 0, 0}
)

// The sessions that have no faults of their own.
var spareB = [maxSessions]bool{1: true}

// The lock path of each request, and the request within whose hold it begins.
var (
	alternate = [maxActors]int{0, 1, 0, 1}
	inSecond  = [maxActors]int{2: 1, 3: 1}
	twoWant   = [maxActors]int{1: 1, 3: 3} // the second within the first, the fourth within the third
)

// The kind of lock of each request.
var (
	readers           = [maxActors]messages.Mode{messages.Read, messages.Read, messages.Read, messages.Read}
	readWrite         = [maxActors]messages.Mode{messages.Read, messages.Write}
	readReadWrite     = [maxActors]messages.Mode{messages.Read, messages.Read, messages.Write}
	writeReadRead     = [maxActors]messages.Mode{messages.Write, messages.Read, messages.Read}
	writeReadReadRead = [maxActors]messages.Mode{messages.Write, messages.Read, messages.Read, messages.Read}
	writeReadWrite    = [maxActors]messages.Mode{messages.Write, messages.Read, messages.Write}
	thenRead          = [maxActors]messages.Mode{messages.Exclusive, messages.Read}
	contests          = [maxActors]messages.Mode{messages.Contest, messages.Contest, messages.Contest}
	semaphores        = [maxActors]messages.Mode{messages.Semaphore, messages.Semaphore, messages.Semaphore}
)

// Which requests something is true of: that they come later, only try, or reclaim.
var (
	all         = [maxActors]bool{true, true, true}
	first       = [maxActors]bool{true}
	firstTwo    = [maxActors]bool{true, true}
	second      = [maxActors]bool{1: true}
	secondThird = [maxActors]bool{1: true, 2: true}
	third       = [maxActors]bool{2: true}
	notFirst    = [maxActors]bool{1: true, 2: true, 3: true}
)

// The writer beside whose node a request makes its own.
var besideFirst = [maxActors]int{1: 1}

// named gives a plan a name.
func named(name string, p Plan) Plan {
	p.Name = name
	return p
}

// spared gives a plan in which session B has no faults of its own.
func spared(p Plan) Plan {
	p.Spared = spareB
	return p
}
