package coordinator

import (
	"fmt"
	"reflect"
	"slices"
	"strings"
)

// printed writes the whole state of a coordinator, through all pointers, except the outputs of the
// last input. Two coordinators that print the same are the same.
func printed(c *Coordinator) string {
	p := printer{seen: map[uintptr]int{}}
	shown := *c
	shown.out, shown.at = nil, At{}
	p.value(reflect.ValueOf(shown), 0)
	return p.String()
}

// printer writes values. A value that was written already is named by its number.
type printer struct {
	strings.Builder
	seen map[uintptr]int
}

func (p *printer) value(v reflect.Value, depth int) {
	switch v.Kind() {
	case reflect.Pointer:
		p.pointer(v, depth)
	case reflect.Interface:
		if v.IsNil() {
			p.WriteString("nil")
			return
		}
		p.WriteString(v.Elem().Type().String() + " ")
		p.value(v.Elem(), depth)
	case reflect.Struct:
		p.WriteString("{")
		for i := range v.NumField() {
			fmt.Fprintf(p, " %s:", v.Type().Field(i).Name)
			p.value(v.Field(i), depth+1)
		}
		p.WriteString("}")
	case reflect.Map:
		p.entries(v, depth)
	case reflect.Slice, reflect.Array:
		p.WriteString("[")
		for i := range v.Len() {
			p.WriteString(" ")
			p.value(v.Index(i), depth+1)
		}
		p.WriteString("]")
	default:
		fmt.Fprintf(p, "%v", v)
	}
}

func (p *printer) pointer(v reflect.Value, depth int) {
	if v.IsNil() {
		p.WriteString("nil")
		return
	}
	number, seen := p.seen[v.Pointer()]
	if seen {
		fmt.Fprintf(p, "&%d", number)
		return
	}
	number = len(p.seen) + 1
	p.seen[v.Pointer()] = number
	fmt.Fprintf(p, "&%d=", number)
	p.value(v.Elem(), depth)
}

// entries writes those of a map, in the order of its keys.
func (p *printer) entries(v reflect.Value, depth int) {
	keys := v.MapKeys()
	slices.SortFunc(keys, func(a, b reflect.Value) int {
		if a.CanUint() {
			return int(a.Uint()) - int(b.Uint())
		}
		return strings.Compare(a.String(), b.String())
	})
	p.WriteString("map[")
	for _, key := range keys {
		fmt.Fprintf(p, "\n%s%v:", strings.Repeat(" ", depth), key)
		p.value(v.MapIndex(key), depth+1)
	}
	p.WriteString("]")
}

// memory lists the changeable things that a coordinator refers to, by address: the targets of pointers, maps and
// lists, without those that are never changed.
func memory(c *Coordinator) map[uintptr]string {
	m := reach{}
	shown := *c
	shown.out, shown.at = nil, At{}
	m.value(reflect.ValueOf(shown))
	return m
}

type reach map[uintptr]string

// unchanging are the types whose values are never changed, but replaced: see Clone.
var unchanging = []reflect.Type{reflect.TypeFor[*Spec](), reflect.TypeFor[*Predecessor](), reflect.TypeFor[*View](),
	reflect.TypeFor[lastListing](), reflect.TypeFor[purpose](), reflect.TypeFor[kind]()}

func (m reach) value(v reflect.Value) {
	if slices.Contains(unchanging, v.Type()) {
		return
	}
	switch v.Kind() {
	case reflect.Pointer:
		if !v.IsNil() && m[v.Pointer()] == "" {
			m[v.Pointer()] = v.Type().String()
			m.value(v.Elem())
		}
	case reflect.Struct:
		for i := range v.NumField() {
			m.value(v.Field(i))
		}
	case reflect.Map:
		m[v.Pointer()] = v.Type().String()
		for all := v.MapRange(); all.Next(); {
			m.value(all.Value())
		}
	case reflect.Slice:
		if v.Cap() > 0 { // what is appended to two lists of the same memory is overwritten
			m[v.Pointer()] = v.Type().String()
		}
		for i := range v.Len() {
			m.value(v.Index(i))
		}
	}
}

// together names what two coordinators could both change.
func together(one, two *Coordinator) (all []string) {
	mine := memory(one)
	for at, what := range memory(two) {
		if mine[at] != "" {
			all = append(all, what)
		}
	}
	return all
}
