package walk

import (
	"math/rand/v2"
	"reflect"
	"slices"
	"testing"
	"unsafe"

	"github.com/stretchr/testify/assert"

	"github.com/turnstile-locks/turnstile/actors/internal/coordinator"
	"github.com/turnstile-locks/turnstile/actors/machine"
	"github.com/turnstile-locks/turnstile/actors/queue"
)

// TestEveryFieldIsInTheFingerprint: two states that differ in one field have different fingerprints, or it is said why
// the field makes no difference. A walk takes states with the same fingerprint for one, and does not look at what
// follows from a field that is missing.
//
// Fields of states from random histories are altered, one at a time: fields of the world, of
// coordinators, and of messages under way. A field is in the fingerprint when one alteration shows.
func TestEveryFieldIsInTheFingerprint(t *testing.T) {
	a := &alterations{places: map[string]*place{}, tops: map[reflect.Type]*place{}}
	random := rand.New(rand.NewPCG(1, 2))
	for histories := 0; histories < fewest || histories < most && len(a.missing()) > 0; histories++ {
		for i, plan := range allSmall() {
			if i%parts == histories%parts {
				a.along(&plan, random)
			}
		}
	}
	for _, name := range a.missing() {
		if tried := a.place(name).tried; tried == 0 {
			assert.Fail(t, "no history has a value of "+name, "a field of a query or an answer is named from the struct that holds it")
		} else {
			assert.Fail(t, name+" is not in the fingerprint", "it was altered %d times", tried)
		}
	}
	shown := 0
	for name, at := range a.places {
		if at.shown {
			shown++
			assert.Empty(t, at.why, "%s makes a difference, though this is said of it", name)
		}
	}
	t.Logf("%d fields", shown)
}

// missing lists the fields that have not shown, and should have.
func (a *alterations) missing() []string {
	var all []string
	for name, at := range a.places { // those behind interfaces, too
		if at.tried > 0 {
			all = append(all, name)
		}
	}
	fieldsOf(reflect.TypeFor[state](), "", map[string]bool{}, &all)
	slices.Sort(all)
	return slices.DeleteFunc(slices.Compact(all), func(name string) bool { return a.place(name).shown || a.place(name).why != "" })
}

// How many times random histories of one part of the plans after the other are followed, how many moves one has at most, and how often a field is altered
// of which it is said that it makes no difference.
const (
	parts   = 4
	fewest  = 1
	most    = 80
	longest = 120
	enough  = 100
)

// alterations is which fields were altered, and for which that has shown in a fingerprint.
type alterations struct {
	places map[string]*place
	tops   map[reflect.Type]*place // of the values that are no part of another one

	w    *world
	was  fingerprint
	seen map[unsafe.Pointer]bool
}

// place is a field of a type, or of a value within it.
type place struct {
	name   string
	why    string // it makes no difference; "" where it must
	tried  int    // so many times it was altered
	shown  bool
	fields []*place // of the struct that it holds, once one was seen
}

// place finds a place by its name, or makes it.
func (a *alterations) place(name string) *place {
	at := a.places[name]
	if at == nil {
		at = &place{name: name, why: withoutDifference(name)}
		a.places[name] = at
	}
	return at
}

// top gives the place of values of a type that are no part of another one. Their fields are named from the type.
func (a *alterations) top(of reflect.Type) *place {
	at := a.tops[of]
	if at == nil {
		if at = (&place{}); of.Kind() != reflect.Struct {
			at = a.place(of.String())
		}
		a.tops[of] = at
	}
	return at
}

// fields gives the places of the fields of a struct.
func (a *alterations) fields(at *place, of reflect.Type) []*place {
	if at.fields == nil {
		for i := range of.NumField() {
			at.fields = append(at.fields, a.place(fieldName(of, i, at.name)))
		}
	}
	return at.fields
}

// along follows a random history of a plan, and alters each of its states.
func (a *alterations) along(plan *Plan, random *rand.Rand) {
	w := newWorld(plan, Mistake{}, map[*machine.Row]bool{})
	for range longest {
		a.w, a.seen, a.was = w, map[unsafe.Pointer]bool{}, fresh(w)
		a.visit(reflect.ValueOf(&w.state).Elem(), a.top(reflect.TypeFor[state]()), func() {})
		moves := w.moves(nil)
		if len(moves) == 0 || w.violation != nil {
			return
		}
		from := w.state
		w.load(&from)
		w.make(moves[random.IntN(len(moves))])
		w.simplify()
	}
}

// fresh gives a fingerprint for which nothing is taken that was hashed before.
func fresh(w *world) fingerprint {
	for s := range w.sessions {
		sess := &w.sessions[s]
		sess.print = fingerprint{}
		for i := range sess.flights {
			sess.flights[i].print = fingerprint{}
		}
	}
	return newWriter(w).fingerprint()
}

// visit alters a value, and what is in it. written is to be called after an alteration, where the value is a copy.
func (a *alterations) visit(v reflect.Value, at *place, written func()) {
	if opaque(v.Type()) || at.tried >= enough && at.why != "" {
		return
	}
	switch v.Kind() {
	case reflect.Struct:
		for i, field := range a.fields(at, v.Type()) {
			v := v.Field(i)
			a.visit(reflect.NewAt(v.Type(), unsafe.Pointer(v.UnsafeAddr())).Elem(), field, written)
		}
	case reflect.Pointer:
		if v.IsNil() || a.seen[v.UnsafePointer()] {
			return
		}
		to := v.Elem()
		a.seen[v.UnsafePointer()] = true
		if a.alter(v, at, written, reflect.Zero(v.Type())); at.why == "" {
			a.visit(to, a.top(to.Type()), func() {})
		}
	case reflect.Interface:
		if v.IsNil() {
			return
		}
		inside := reflect.New(v.Elem().Type()).Elem()
		inside.Set(v.Elem())
		if a.alter(v, at, written, reflect.Zero(v.Type())); at.why == "" {
			a.visit(inside, a.top(inside.Type()), func() { v.Set(inside); written() })
		}
	case reflect.Slice:
		if v.Len() == 0 {
			return
		}
		a.alter(v, at, written, v.Slice(0, v.Len()-1))
		fallthrough
	case reflect.Array:
		for i := range v.Len() {
			a.visit(v.Index(i), at, written)
		}
	case reflect.Map:
		for _, key := range v.MapKeys() {
			inside := reflect.New(v.Type().Elem()).Elem()
			inside.Set(v.MapIndex(key))
			put := func() { v.SetMapIndex(key, inside); written() }
			a.tryOnce(at, func() { v.SetMapIndex(key, reflect.Value{}); written() }, put)
			a.visit(inside, at, put)
		}
	default:
		if !at.shown {
			a.alter(v, at, written, others(v)...)
		}
	}
}

// others gives other values of a plain type.
func others(v reflect.Value) []reflect.Value {
	switch v.Kind() {
	case reflect.Bool:
		return []reflect.Value{reflect.ValueOf(!v.Bool())}
	case reflect.String:
		return []reflect.Value{reflect.ValueOf(v.String() + "'"), reflect.ValueOf("")}
	}
	next := reflect.New(v.Type()).Elem()
	if v.CanInt() {
		next.SetInt(v.Int() + 1)
	} else {
		next.SetUint(v.Uint() + 1)
	}
	return []reflect.Value{next, reflect.Zero(v.Type())}
}

// alter puts other values in the place of one, and looks whether that shows.
func (a *alterations) alter(v reflect.Value, at *place, written func(), others ...reflect.Value) {
	if at.shown {
		return
	}
	was := reflect.New(v.Type()).Elem()
	was.Set(v)
	for _, other := range others {
		if other = other.Convert(v.Type()); v.Comparable() && v.Equal(other) {
			continue
		}
		a.tryOnce(at, func() { v.Set(other); written() }, func() { v.Set(was); written() })
	}
}

// tryOnce alters what is at a place, unless that has shown before.
func (a *alterations) tryOnce(at *place, alter, restore func()) {
	if at.shown {
		return
	}
	at.tried++
	alter()
	if a.shows() {
		at.shown = true
	}
	restore()
}

// shows reports whether the state has another fingerprint now. A number that leads nowhere was read.
func (a *alterations) shows() (shows bool) {
	defer func() { shows = shows || recover() != nil }()
	return fresh(a.w) != a.was
}

// fieldName gives a field its name: its type's and its own, and the names of the fields around it
// where it is part of another value.
func fieldName(of reflect.Type, i int, within string) string {
	if within == "" {
		within = of.String()
	}
	return within + "." + of.Field(i).Name
}

// opaque: these are looked at whole. A Spec never changes, and nor does a listing.
func opaque(t reflect.Type) bool {
	return t == reflect.TypeFor[coordinator.Spec]() || t == reflect.TypeFor[queue.Listing]()
}

// fieldsOf lists the names of all fields that hold something, as visit gives them.
func fieldsOf(t reflect.Type, name string, seen map[string]bool, all *[]string) {
	if opaque(t) || withoutDifference(name) != "" {
		return
	}
	switch t.Kind() {
	case reflect.Struct:
		if name == "" {
			if seen[t.String()] {
				return
			}
			seen[t.String()] = true
		}
		for i := range t.NumField() {
			fieldsOf(t.Field(i).Type, fieldName(t, i, name), seen, all)
		}
	case reflect.Pointer:
		*all = append(*all, name)
		fieldsOf(t.Elem(), "", seen, all)
	case reflect.Slice, reflect.Map:
		*all = append(*all, name)
		fieldsOf(t.Elem(), name, seen, all)
	case reflect.Array:
		fieldsOf(t.Elem(), name, seen, all)
	default:
		*all = append(*all, name)
	}
}
