package snapshot

import (
	"fmt"
	"reflect"
	"strings"
)

// FindText gives the places at which the secret is part of a text or of a slice of bytes; nil where it
// is nowhere. The value must not change meanwhile. A printer that follows pointers finds the same; variables that functions
// capture are out of its reach, as they are out of a printer's.
func FindText(value any, secret string) []string {
	w := walk{secret: secret, seen: map[visit]bool{}}
	w.value("value", reflect.ValueOf(value))
	return w.found
}

// visit is a place in memory, seen as one type.
type visit struct {
	at uintptr
	as reflect.Type
}

type walk struct {
	secret string
	seen   map[visit]bool
	found  []string
}

func (w *walk) value(path string, v reflect.Value) {
	switch v.Kind() {
	case reflect.String:
		w.text(path, v.String())
	case reflect.Pointer:
		at := visit{v.Pointer(), v.Type()}
		if !v.IsNil() && !w.seen[at] {
			w.seen[at] = true
			w.value(path, v.Elem())
		}
	case reflect.Interface:
		w.value(path, v.Elem())
	case reflect.Struct:
		for i := range v.NumField() {
			w.value(path+"."+v.Type().Field(i).Name, v.Field(i))
		}
	case reflect.Map:
		for iter := v.MapRange(); iter.Next(); {
			w.value(path+" key", iter.Key())
			w.value(fmt.Sprintf("%s[%v]", path, iter.Key()), iter.Value())
		}
	case reflect.Slice, reflect.Array:
		w.elements(path, v)
	}
}

func (w *walk) elements(path string, v reflect.Value) {
	if v.Type().Elem().Kind() == reflect.Uint8 {
		text := make([]byte, v.Len())
		for i := range text {
			text[i] = byte(v.Index(i).Uint())
		}
		w.text(path, string(text))
		return
	}
	for i := range v.Len() {
		w.value(fmt.Sprintf("%s[%d]", path, i), v.Index(i))
	}
}

func (w *walk) text(path, text string) {
	if strings.Contains(text, w.secret) {
		w.found = append(w.found, path)
	}
}
