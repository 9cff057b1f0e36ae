package matrix

import (
	"os"
	"slices"
	"testing"

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
	// expiredIn has what differs when the session ends in a state: see TestExpiredIn.
	expiredIn map[string]cell
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

// played is the recipe that a cell is about.
func (c cell) played() *recipe {
	if c.recipe == nil {
		return exclusiveLock
	}
	return c.recipe
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

// recipeFaults are the faults that meet recipes. A step of the clock is not among them: it concerns
// only the lease, in any kind of lock.
var recipeFaults = slices.DeleteFunc(slices.Clone(faults), func(f Fault) bool { return f == clockStepped })

// cell gives what is demanded of a recipe.
func (r *recipe) cell(request Request, fault Fault) cell {
	is := func(request Request) func(cell) bool {
		return func(c cell) bool { return c.request == request && c.fault == fault }
	}
	if at := slices.IndexFunc(r.cells, is(request)); at >= 0 {
		return r.complete(r.cells[at])
	}
	all := matrix
	if fault == paused {
		all = pausedInside
	}
	from := request
	if like, own := r.like[request]; own {
		from = like
	}
	at := slices.IndexFunc(all, is(from))
	if at < 0 {
		return cell{}
	}
	c := all[at]
	c.request = request
	return r.translate(c)
}

// complete takes from the cell of the exclusive lock what a cell of the recipe does not say: how the request
// is met by the fault.
func (r *recipe) complete(c cell) cell {
	c.recipe = r
	if c.absurd != "" || c.strike != nil {
		return c
	}
	from := c.request
	if like, own := r.like[c.request]; own {
		from = like
	}
	for _, base := range slices.Concat(pausedInside, matrix) {
		if base.request == from && base.fault == c.fault && base.strike != nil {
			c.strike = base.strike
			if c.at.isNothing() {
				c.at = base.at
			}
			break
		}
	}
	return c
}

// translate has a cell of the exclusive lock be about the recipe.
func (r *recipe) translate(c cell) cell {
	c.recipe = r
	if r.as != nil && c.absurd == "" {
		c.course = r.as(c.request, c.course)
		if len(c.orElse.story) > 0 {
			c.orElse = r.as(c.request, c.orElse)
		}
	}
	return c
}

// isNothing reports whether a stage has nothing special.
func (s stage) isNothing() bool {
	return s.replicas == 0 && s.subject == nil && s.ready == nil && !s.alone && s.dial == nil
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

// TestRecipes runs every cell that makes sense, of every recipe.
func TestRecipes(t *testing.T) {
	t.Parallel()
	ran, absurd, other := 0, 0, 0
	for i, r := range recipes {
		t.Run(r.name, func(t *testing.T) {
			for _, request := range r.requests() {
				for _, fault := range recipeFaults {
					c := r.cell(request, fault)
					switch {
					case c.absurd != "":
						absurd++
					case c.strike == nil || c.outcome == "":
						t.Errorf("%s/%s: nothing is demanded", request, fault)
					case nightly(i + ran + other):
						other++
					default:
						ran++
						t.Run(string(request)+"/"+string(fault), c.test)
					}
				}
			}
		})
	}
	t.Logf("%d recipes: %d cells run, %d make no sense, %d run in make race", len(recipes), ran, absurd, other)
}

// TestRecipesExpiredIn: the session ends while the request stands in each of its states.
func TestRecipesExpiredIn(t *testing.T) {
	for i, r := range recipes {
		t.Run(r.name, func(t *testing.T) {
			for j, c := range expiredIn {
				if _, sends := r.aims[c.request]; !sends || nightly(i+j) {
					continue
				}
				if own, differs := r.expiredIn[c.state]; differs {
					own.request, own.strike = c.request, c.strike
					t.Run(c.state, r.complete(own).test)
					continue
				}
				t.Run(c.state, r.translate(c.cell).test)
			}
		})
	}
}

// TestRecipesHaveNoIdleCells: a cell that no request and fault leads to is never run.
func TestRecipesHaveNoIdleCells(t *testing.T) {
	for _, r := range recipes {
		for _, c := range r.cells {
			if !slices.Contains(r.requests(), c.request) || !slices.Contains(recipeFaults, c.fault) {
				t.Errorf("%s: %s/%s", r.name, c.request, c.fault)
			}
		}
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
