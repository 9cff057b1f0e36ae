package matrix

import (
	"cmp"
	"os"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/turnstile-locks/turnstile/locks"
	"github.com/turnstile-locks/turnstile/messages"
	"github.com/turnstile-locks/turnstile/zkconn/embedded"
)

// Requests that not every recipe sends.
const (
	permits      Request = "permits"       // a semaphore's listing: the number of permits
	permitsWatch Request = "permits-watch" // its first waiter: that number, with a watch
	frontWatch   Request = "front-watch"   // its first waiter: the second holder, with a watch
	moveUp       Request = "move-up"       // its holder: writing to the own node, for the one behind
)

// recipe is a kind of lock. Most of its demands follow from the cells of the exclusive lock: the
// same happens, but for the states that it goes through on its way. The rest is listed in cells.
type recipe struct {
	name                   string
	ahead, subject, behind kind   // what the one before the subject, it, and the one behind it ask for
	around                 kind   // what the subject asks within; nil for nothing
	node                   string // a pattern of the subject's node
	aims                   map[Request]embedded.Fault
	// as has the recipe's steps where the exclusive lock takes these.
	as func(Request, course) course
	// like gives the request of the exclusive lock whose outcomes a request of the recipe's own has.
	like  map[Request]Request
	cells []cell // in place of the cells that would follow
	// once: its subject waits for nobody, or not again.
	once bool
}

// exclusiveLock is the matrix's own recipe.
var exclusiveLock = &recipe{name: "exclusive", ahead: mutex, subject: mutex, behind: mutex, node: "*-lock-*",
	aims: aimsAt("*-lock-", "*-lock-*")}

func mutex(c *locks.Client, opts ...locks.LockOption) locks.Locker { return c.Mutex(lockPath, opts...) }

// aimsAt gives the requests of a queue by the names of the nodes: the subject's, without its
// number, and its predecessor's.
func aimsAt(own, before string) map[Request]embedded.Fault {
	return map[Request]embedded.Fault{
		create:  {Path: lockPath + "/" + own}, // nothing else is asked of a node without a number
		list:    {Op: embedded.OpGetChildren2, Path: lockPath},
		watch:   {Op: embedded.OpGetData, Path: lockPath + "/" + before},
		syncing: {Op: embedded.OpMulti, Path: lockPath},
		verify:  {Op: embedded.OpMulti, Path: lockPath + "/" + own + "??????????"},
		remove:  {Op: embedded.OpDelete, Path: lockPath + "/*"},
		ping:    {Op: embedded.OpPing},
	}
}

// recipes are the recipes for which the matrix is repeated.
var recipes = []*recipe{reading, writing, downgrading, watchingAll, acquiring, contesting}

// requests gives the requests that a recipe sends.
func (r *recipe) requests() (all []Request) {
	for _, request := range append(slices.Clone(requests), permits, permitsWatch, frontWatch, moveUp) {
		if _, sends := r.aims[request]; sends {
			all = append(all, request)
		}
	}
	return all
}

// cell gives what is demanded of a recipe: its own cell, or what follows from the exclusive lock's. How the request is met by
// the fault is the same.
func (r *recipe) cell(request Request, fault Fault) (c cell) {
	is := func(request Request) func(cell) bool {
		return func(c cell) bool { return c.request == request && c.fault == fault }
	}
	if at := slices.IndexFunc(matrix, is(cmp.Or(r.like[request], request))); at >= 0 {
		c = matrix[at]
	}
	if at := slices.IndexFunc(r.cells, is(request)); at >= 0 {
		own := r.cells[at]
		if own.absurd == "" && own.strike == nil {
			own.strike = c.strike
			if own.at.isNothing() {
				own.at = c.at
			}
		}
		c = own
	} else if r.as != nil && c.absurd == "" {
		c.course = r.as(request, c.course)
		if len(c.orElse.story) > 0 {
			c.orElse = r.as(request, c.orElse)
		}
	}
	c.recipe, c.request = r, request
	return c
}

// recipesVariable says "all" where each cell of the recipes is to run, as `make race` has it, each night. `make test` runs a
// third of them, and `make test-all` an eighth with -race.
const recipesVariable = "TURNSTILE_RECIPES"

// nightly reports whether a cell, by its number, runs only where all do.
func nightly(number int) bool {
	one := 3
	if underRace {
		one = 8
	}
	return os.Getenv(recipesVariable) != "all" && number%one != 0
}

// TestRecipes runs every cell that makes sense, of every recipe. Each of a recipe's own cells is one of them.
func TestRecipes(t *testing.T) {
	t.Parallel()
	number := 0
	for _, r := range recipes {
		t.Run(r.name, func(t *testing.T) {
			for _, request := range r.requests() {
				for _, fault := range faults {
					c := r.cell(request, fault)
					if c.absurd != "" {
						continue
					}
					require.True(t, c.strike != nil && c.outcome != "", "%s/%s: nothing is demanded", request, fault)
					if number++; !nightly(number) {
						t.Run(string(request)+"/"+string(fault), c.test)
					}
				}
			}
			for _, c := range r.cells {
				require.True(t, slices.Contains(r.requests(), c.request) && slices.Contains(faults, c.fault), "%s/%s is idle", c.request, c.fault)
			}
		})
	}
}

// listsBefore puts a listing before a grant that comes from one of some states.
func (c course) listsBefore(from ...messages.State) course {
	var story []messages.State
	for i, state := range c.story {
		if state == stHeld && i > 0 && slices.Contains(from, c.story[i-1]) {
			story = append(story, stListing)
		}
		story = append(story, state)
	}
	c.story = story
	return c
}
