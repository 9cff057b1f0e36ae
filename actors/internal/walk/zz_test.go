package walk

import (
	"fmt"
	"testing"

	"github.com/turnstile-locks/turnstile/actors/internal/coordinator"
)

func TestZZ(t *testing.T) {
	plan := Plan{Name: "a cut", Sessions: apart, Spared: spareB, Bounds: Bounds{Cuts: 1, Lags: 1}, Limit: 400000}
	parts := map[string]map[string]bool{}
	add := func(name string, f func(e *writer), w *world) {
		e := &writer{nil, w}
		f(e)
		if parts[name] == nil {
			parts[name] = map[string]bool{}
		}
		parts[name][string(e.b)] = true
	}
	spy = func(w *world) {
		add("actor0", func(e *writer) { e.actor(0) }, w)
		add("actor1", func(e *writer) { e.actor(1) }, w)
		add("servers", func(e *writer) { e.servers() }, w)
		for s := range 2 {
			add(fmt.Sprint("session", s), func(e *writer) { e.session(s) }, w)
			add(fmt.Sprint("decides", s), func(e *writer) { e.b = w.sessions[s].decides.AppendState(e.b, w.rename) }, w)
			add(fmt.Sprint("flights", s), func(e *writer) {
				for i := range w.sessions[s].flights {
					e.b = append(e.b, e.flight(s, &w.sessions[s].flights[i])...)
				}
			}, w)
			add(fmt.Sprint("nflights", s), func(e *writer) {
				for _, f := range w.sessions[s].flights {
					e.text(fmt.Sprintf("%T %v %v %v", f.query, f.applied, f.lost, f.stage))
				}
			}, w)
			add(fmt.Sprint("flags", s), func(e *writer) {
				sess := &w.sessions[s]
				e.flags(sess.up, sess.linked, sess.ending, sess.established, sess.alive, sess.over, sess.lagging, sess.lease, sess.late)
				e.num(uint64(sess.seen))
			}, w)
			add(fmt.Sprint("wire", s), func(e *writer) {
				for _, in := range w.sessions[s].wire {
					e.input(in)
				}
			}, w)
		}
	}
	r, err := Walk(plan)
	t.Log(r, err)
	for k, v := range parts {
		t.Log(k, len(v))
	}
	n := 0
	for k := range parts["nflights0"] {
		if n++; n < 40 {
			t.Log(k)
		}
	}
	_ = coordinator.Applied
}
