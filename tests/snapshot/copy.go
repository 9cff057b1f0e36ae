package snapshot

import (
	"reflect"
	"slices"
	"unsafe"
)

// Copier copies values of type T with all that they refer to. Make one with NewCopier. It may be used by several goroutines.
type Copier[T any] struct{ of *plan }

// NewCopier makes a copier of values in which no pointer to one of these types is followed: what it points to never
// changes, and copies share it. They also share what is in interfaces.
func NewCopier[T any](shared ...reflect.Type) Copier[T] {
	plans := plans{}
	for _, t := range shared {
		plans[reflect.PointerTo(t)] = &plan{made: true}
	}
	return Copier[T]{plans.of(reflect.TypeFor[*T]())}
}

// Copy gives a copy of a value. What two pointers in the value point to, two pointers in the copy do.
func (c Copier[T]) Copy(from *T) *T {
	var twins [16]twin
	to := unsafe.Pointer(from)
	c.of.own(&copying{twins[:0]}, unsafe.Pointer(&to))
	return (*T)(to)
}

// plan says how a value becomes the copy's own after it was copied flat: own is nil where nothing is to be done. made: that is
// known, because types may refer to themselves.
type plan struct {
	own  func(*copying, unsafe.Pointer)
	made bool
}

// copying has the pointers of one copy: they are few, so that looking through them takes less than a map would.
type copying struct{ twins []twin }

type twin struct {
	of       *plan
	from, to unsafe.Pointer
}

type plans map[reflect.Type]*plan

func (all plans) of(t reflect.Type) *plan {
	p := all[t]
	if p == nil {
		p = &plan{}
		all[t] = p
		p.own, p.made = all.owning(t), true
	}
	return p
}

func (all plans) owning(t reflect.Type) func(*copying, unsafe.Pointer) {
	switch t.Kind() {
	case reflect.Struct:
		return all.fields(t)
	case reflect.Array:
		return array(t, all.of(t.Elem()))
	case reflect.Pointer:
		return pointer(t, all.of(t.Elem()))
	case reflect.Slice:
		return slice(t, all.of(t.Elem()))
	case reflect.Map:
		return mapped(t, all.of(t.Elem()))
	}
	return nil
}

func (all plans) fields(t reflect.Type) func(*copying, unsafe.Pointer) {
	type field struct {
		at uintptr
		*plan
	}
	var fields []field
	for i := range t.NumField() {
		if f := t.Field(i); all.of(f.Type).own != nil || !all.of(f.Type).made {
			fields = append(fields, field{f.Offset, all.of(f.Type)})
		}
	}
	if fields == nil {
		return nil
	}
	return func(k *copying, p unsafe.Pointer) {
		for _, f := range fields {
			f.own(k, unsafe.Add(p, f.at))
		}
	}
}

func array(t reflect.Type, element *plan) func(*copying, unsafe.Pointer) {
	if element.own == nil {
		return nil
	}
	return func(k *copying, p unsafe.Pointer) {
		for i := range t.Len() {
			element.own(k, unsafe.Add(p, uintptr(i)*t.Elem().Size()))
		}
	}
}

func pointer(t reflect.Type, to *plan) func(*copying, unsafe.Pointer) {
	return func(k *copying, p unsafe.Pointer) {
		at := (*unsafe.Pointer)(p)
		if *at == nil {
			return
		}
		known := func(known twin) bool { return known.from == *at && known.of == to }
		if i := slices.IndexFunc(k.twins, known); i >= 0 {
			*at = k.twins[i].to
			return
		}
		next := reflect.New(t.Elem())
		next.Elem().Set(reflect.NewAt(t.Elem(), *at).Elem())
		k.twins = append(k.twins, twin{to, *at, next.UnsafePointer()})
		if *at = next.UnsafePointer(); to.own != nil {
			to.own(k, *at)
		}
	}
}

func slice(t reflect.Type, element *plan) func(*copying, unsafe.Pointer) {
	return func(k *copying, p unsafe.Pointer) {
		v := reflect.NewAt(t, p).Elem()
		n := v.Len()
		if n == 0 {
			v.SetCap(0) // or the two would grow into one array
			return
		}
		next := reflect.MakeSlice(t, n, n)
		reflect.Copy(next, v)
		v.Set(next)
		for i := 0; element.own != nil && i < n; i++ {
			element.own(k, unsafe.Add(next.UnsafePointer(), uintptr(i)*t.Elem().Size()))
		}
	}
}

func mapped(t reflect.Type, element *plan) func(*copying, unsafe.Pointer) {
	return func(k *copying, p unsafe.Pointer) {
		v := reflect.NewAt(t, p).Elem()
		if v.IsNil() {
			return
		}
		next := reflect.MakeMapWithSize(t, v.Len())
		if v.Len() > 0 {
			key, value := reflect.New(t.Key()).Elem(), reflect.New(t.Elem()).Elem()
			for each := v.MapRange(); each.Next(); {
				key.SetIterKey(each)
				value.SetIterValue(each)
				if element.own != nil {
					element.own(k, value.Addr().UnsafePointer())
				}
				next.SetMapIndex(key, value)
			}
		}
		v.Set(next)
	}
}
