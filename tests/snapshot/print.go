package snapshot

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"reflect"
	"slices"
	"sync"
	"unsafe"
)

// Printer prints values in bytes: values that differ in any field are printed differently. Rules say what does not matter. C is
// what rules tell one another. Make one with NewPrinter. It may be used by several goroutines.
type Printer[C any] struct {
	rule  func(name string, of reflect.Type) Write[C]
	types sync.Map // the Write of each type that a pointer or an interface leads to
}

// Write prints one value.
type Write[C any] func(w *Writer[C], v reflect.Value)

// Writer has what is printed. Context is as it was again when what a pointer leads to is printed.
type Writer[C any] struct {
	B       []byte
	Context C
	printer *Printer[C]
	met     []unsafe.Pointer // what pointers led to, in this order: it is printed once
}

// NewPrinter makes a printer. rule gives how a field is printed; nil: as usual. The name of a field is that of the type that a
// pointer or an interface leads to, and the fields down from there: "coordinator.request.own.op".
func NewPrinter[C any](rule func(name string, of reflect.Type) Write[C]) *Printer[C] {
	return &Printer[C]{rule: rule}
}

// Append appends a value. Pointers that lead to the same are printed the same.
func (p *Printer[C]) Append(b []byte, v reflect.Value, context C) []byte {
	w := Writer[C]{B: b, Context: context, printer: p}
	p.of(v.Type())(&w, v)
	return w.B
}

// Skip prints nothing.
func Skip[C any](*Writer[C], reflect.Value) {}

// Num appends numbers.
func (w *Writer[C]) Num(all ...uint64) {
	for _, n := range all {
		w.B = binary.AppendUvarint(w.B, n)
	}
}

// Flag appends a truth.
func (w *Writer[C]) Flag(is bool) {
	if is {
		w.B = append(w.B, 1)
	} else {
		w.B = append(w.B, 0)
	}
}

// Text appends texts.
func (w *Writer[C]) Text(all ...string) {
	for _, s := range all {
		w.Num(uint64(len(s)))
		w.B = append(w.B, s...)
	}
}

// Value appends a value as that of its type by itself.
func (w *Writer[C]) Value(v reflect.Value) { w.printer.of(v.Type())(w, v) }

// Values is a Write of a list whose order does not matter, or of a map whose keys do not: it prints the values, in the order of
// what is printed. What pointers in two values lead to is printed twice.
func Values[C any](w *Writer[C], v reflect.Value) {
	var all [][]byte
	begin, context, met := len(w.B), w.Context, len(w.met)
	each := func(v reflect.Value) {
		w.Value(v)
		all = append(all, bytes.Clone(w.B[begin:]))
		w.B, w.Context, w.met = w.B[:begin], context, w.met[:met]
	}
	if v.Kind() == reflect.Map {
		for i := v.MapRange(); i.Next(); {
			each(i.Value())
		}
	} else {
		for i := range v.Len() {
			each(v.Index(i))
		}
	}
	slices.SortFunc(all, bytes.Compare)
	w.Num(uint64(len(all)))
	w.B = append(w.B, bytes.Join(all, nil)...)
}

// Void has what a pointer leads to not printed.
func (w *Writer[C]) Void(v reflect.Value) { w.met = append(w.met, v.UnsafePointer()) }

// of gives the Write of a type by itself.
func (p *Printer[C]) of(t reflect.Type) Write[C] {
	if write, known := p.types.Load(t); known {
		return write.(Write[C])
	}
	write := p.write(t.String(), t)
	p.types.Store(t, write)
	return write
}

func (p *Printer[C]) write(name string, t reflect.Type) Write[C] {
	if write := p.rule(name, t); write != nil {
		return write
	}
	switch t.Kind() {
	case reflect.Struct:
		return p.fields(name, t)
	case reflect.Pointer:
		return (*Writer[C]).pointer
	case reflect.Interface:
		return (*Writer[C]).dynamic
	case reflect.Slice, reflect.Array:
		element := p.write(name, t.Elem())
		return func(w *Writer[C], v reflect.Value) {
			w.Num(uint64(v.Len()))
			for i := range v.Len() {
				element(w, v.Index(i))
			}
		}
	case reflect.Map:
		return entries(p.write(name, t.Key()), p.write(name, t.Elem()))
	case reflect.String:
		return func(w *Writer[C], v reflect.Value) { w.Text(v.String()) }
	case reflect.Bool:
		return func(w *Writer[C], v reflect.Value) { w.Flag(v.Bool()) }
	case reflect.Int, reflect.Int8, reflect.Int16, reflect.Int32, reflect.Int64:
		return func(w *Writer[C], v reflect.Value) { w.Num(uint64(v.Int())) }
	case reflect.Uint, reflect.Uint8, reflect.Uint16, reflect.Uint32, reflect.Uint64:
		return func(w *Writer[C], v reflect.Value) { w.Num(v.Uint()) }
	}
	panic(fmt.Sprintf("%s is a %s, which cannot be printed", name, t))
}

func (p *Printer[C]) fields(name string, t reflect.Type) Write[C] {
	type field struct {
		at    int
		write Write[C]
	}
	var all []field
	skip := reflect.ValueOf(Skip[C]).Pointer()
	for i := range t.NumField() {
		f := t.Field(i)
		if write := p.write(name+"."+f.Name, f.Type); reflect.ValueOf(write).Pointer() != skip {
			all = append(all, field{i, write})
		}
	}
	return func(w *Writer[C], v reflect.Value) {
		for _, f := range all {
			f.write(w, v.Field(f.at))
		}
	}
}

func (w *Writer[C]) pointer(v reflect.Value) {
	if v.IsNil() {
		w.Num(0)
		return
	}
	at := slices.Index(w.met, v.UnsafePointer())
	if at >= 0 {
		w.Num(uint64(at) + 1)
		return
	}
	w.met = append(w.met, v.UnsafePointer())
	w.Num(uint64(len(w.met)))
	was := w.Context
	w.printer.of(v.Type().Elem())(w, v.Elem())
	w.Context = was
}

func (w *Writer[C]) dynamic(v reflect.Value) {
	if v.IsNil() {
		w.Text("")
		return
	}
	w.Text(v.Elem().Type().String())
	w.printer.of(v.Elem().Type())(w, v.Elem())
}

// entries prints those of a map, in the order of what is printed of their keys.
func entries[C any](key, value Write[C]) Write[C] {
	type entry struct {
		key     []byte
		of, has reflect.Value
	}
	return func(w *Writer[C], v reflect.Value) {
		w.Num(uint64(v.Len()))
		all, begin := make([]entry, 0, 4), len(w.B)
		for each := v.MapRange(); each.Next(); {
			one := entry{of: each.Key(), has: each.Value()}
			if v.Len() > 1 {
				key(w, one.of)
				one.key, w.B = bytes.Clone(w.B[begin:]), w.B[:begin]
			}
			all = append(all, one)
		}
		slices.SortFunc(all, func(x, y entry) int { return bytes.Compare(x.key, y.key) })
		for _, e := range all {
			key(w, e.of)
			value(w, e.has)
		}
	}
}
