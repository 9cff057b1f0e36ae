package walk

import (
	"hash/maphash"
	"reflect"
	"slices"
)

var seeds = [2]maphash.Seed{maphash.MakeSeed(), maphash.MakeSeed()}

// hash prints what a pointer leads to, in 128 bits.
func (w *world) hash(of any) fingerprint {
	w.printed = prints.Append(w.printed[:0], reflect.ValueOf(of), printing{w: w})
	return fingerprint{maphash.Bytes(seeds[0], w.printed), maphash.Bytes(seeds[1], w.printed)}
}

// simplify makes states equal that behave alike: answers that can change nothing are dropped.
func (w *world) simplify() {
	for s := range w.told {
		if c := &w.clients[s]; w.told[s] || w.plan.Calls != nil && c.print == (fingerprint{}) {
			if c.turns == nil {
				c.turns = c.heard.again()
			}
			c.print = w.hash(c.turns)
		}
	}
	for s := range w.sessions {
		sess := &w.sessions[s]
		ignored := func(f flight) bool { return sess.decides.Ignores(f.id) }
		if slices.ContainsFunc(sess.flights, ignored) {
			sess.flights = slices.DeleteFunc(slices.Clone(sess.flights), ignored)
		}
		if w.left[Lags] == 0 && sess.link != lagging {
			sess.seen = 0
		}
	}
}

// fingerprint gives the fingerprint of the state of the world. A coordinator is hashed when it has changed, a query with its
// answer once.
func (w *world) fingerprint() fingerprint {
	for s := range w.sessions {
		sess := &w.sessions[s]
		if w.owned[s] || w.stepped[s] || sess.print == (fingerprint{}) {
			sess.print = w.hash(sess.decides)
		}
		for i := range sess.flights {
			if f := &sess.flights[i]; f.print == (fingerprint{}) {
				f.print = w.hash(&[...]any{f.query, f.answer})
			}
		}
	}
	return w.hash(&w.state)
}
