package walk

import (
	"encoding/binary"
	"reflect"
	"slices"
	"strings"
	"unsafe"

	"github.com/turnstile-locks/turnstile/actors/turns"
)

// turnsPrinter writes the state of turns in bytes. It reads all fields, so that a new one is in the
// fingerprint. Pointers are numbered as they are met, and the numbers of uses in IDs are left out:
// an ID that has ended is void in any case.
type turnsPrinter struct {
	b       []byte
	wants   []*turns.Want // of the calls
	numbers map[unsafe.Pointer]int
}

var (
	wantType   = reflect.TypeFor[turns.Want]()
	callIDType = reflect.TypeFor[turns.CallID]()
	holdIDType = reflect.TypeFor[turns.HoldID]()
)

// ofTheInput are the fields that say nothing between two inputs.
var ofTheInput = []string{"now", "out", "taken"}

func (p *turnsPrinter) print(t *turns.Turns) {
	p.b, p.numbers = p.b[:0], map[unsafe.Pointer]int{}
	v := reflect.ValueOf(t).Elem()
	free := v.FieldByName("free")
	for _, name := range []string{"calls", "holds"} { // lines and queues have no slots
		slots := free.FieldByName(name)
		p.num(uint64(slots.Len()))
		for at := range slots.Len() { // what is in a free slot is void
			p.numbers[slots.Index(at).UnsafePointer()] = len(p.numbers) + 1
			p.num(uint64(slots.Index(at).Elem().FieldByName("id").Uint() & 0xffff))
		}
	}
	for i := range v.NumField() {
		if name := v.Type().Field(i).Name; name != "free" && !slices.Contains(ofTheInput, name) {
			p.value(v.Field(i))
		}
	}
}

func (p *turnsPrinter) num(n uint64) { p.b = binary.AppendUvarint(p.b, n) }

func (p *turnsPrinter) value(v reflect.Value) {
	switch kind := v.Kind(); {
	case v.Type() == callIDType || v.Type() == holdIDType:
		p.num(v.Uint() & 0xffff_ffff)
		p.num(min(v.Uint()>>32, 1)) // or none
	case kind == reflect.Pointer:
		p.pointer(v)
	case kind == reflect.Struct:
		for i := range v.NumField() {
			p.value(v.Field(i))
		}
	case kind == reflect.Slice:
		p.num(uint64(v.Len()))
		for i := range v.Len() {
			p.value(v.Index(i))
		}
	case kind == reflect.Map:
		keys := v.MapKeys()
		slices.SortFunc(keys, func(a, b reflect.Value) int { return strings.Compare(keyText(a), keyText(b)) })
		p.num(uint64(len(keys)))
		for _, key := range keys {
			p.value(key)
			p.value(v.MapIndex(key))
		}
	case kind == reflect.String:
		p.num(uint64(v.Len()))
		p.b = append(p.b, v.String()...)
	case kind == reflect.Bool:
		if v.Bool() {
			p.num(1)
		} else {
			p.num(0)
		}
	case v.CanInt():
		p.b = binary.AppendVarint(p.b, v.Int())
	case v.CanUint():
		p.num(v.Uint())
	default:
		panic("turns have a " + v.Type().String())
	}
}

func (p *turnsPrinter) pointer(v reflect.Value) {
	to := v.UnsafePointer()
	if v.IsNil() {
		p.num(0)
		return
	}
	if v.Type().Elem() == wantType {
		p.num(uint64(1 + slices.IndexFunc(p.wants, func(w *turns.Want) bool { return unsafe.Pointer(w) == to })))
		return
	}
	if n, met := p.numbers[to]; met {
		p.num(uint64(n))
		return
	}
	p.numbers[to] = len(p.numbers) + 1
	p.num(uint64(len(p.numbers)))
	p.value(v.Elem())
}

// keyText is a text by which the keys of a map of queues are in order.
func keyText(v reflect.Value) string {
	var b strings.Builder
	for i := range v.NumField() {
		if f := v.Field(i); f.Kind() == reflect.String {
			b.WriteString(f.String())
		} else {
			b.WriteByte(byte(f.Uint()))
		}
		b.WriteByte(0)
	}
	return b.String()
}
