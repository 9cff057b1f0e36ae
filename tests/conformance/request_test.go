package conformance

import (
	"fmt"
	"strconv"
	"strings"
)

// scope translates the arguments of an operation for one server.
type scope struct {
	root string
	base int64 // the zxid that created the root
}

// request renders what an operation sends after its header.
func (s scope) request(o operation) ([]byte, error) {
	var e encoder
	if err := s.body(&e, o); err != nil {
		return nil, fmt.Errorf("%s: %w", o, err)
	}
	cut := min(int(o.number("cut", 0)), len(e.bytes))
	e.bytes = e.bytes[:len(e.bytes)-cut]
	return append(e.bytes, make([]byte, o.number("pad", 0))...), nil
}

func (s scope) body(e *encoder, o operation) error {
	for _, f := range layouts[o.name].request {
		token, ok := o.get(f.key)
		if !ok {
			token = f.otherwise
		}
		if err := s.field(e, f.kind, token); err != nil {
			return fmt.Errorf("%s=%s: %w", f.key, token, err)
		}
	}
	if o.name != "multi" && o.name != "multiRead" {
		return nil
	}
	for _, part := range o.parts {
		e.multiHeader(layouts[part.name].code, false, -1)
		if err := s.body(e, part); err != nil {
			return err
		}
	}
	e.multiHeader(-1, true, -1)
	return nil
}

func (e *encoder) multiHeader(code int32, done bool, err int32) {
	e.int32(code)
	e.bool(done)
	e.int32(err)
}

func (s scope) field(e *encoder, k kind, token string) error {
	switch k {
	case kindPath, kindText:
		t, err := parseText(token)
		if k == kindPath {
			t = s.expand(t)
		}
		e.text(t)
		return err
	case kindInt:
		n, err := strconv.ParseInt(token, 10, 32)
		e.int32(int32(n))
		return err
	case kindLong:
		n, err := strconv.ParseInt(token, 10, 64)
		e.int64(n)
		return err
	case kindZxid:
		n, err := s.zxid(token)
		e.int64(n)
		return err
	case kindBool:
		v, err := strconv.ParseBool(token)
		e.bool(v)
		return err
	case kindACL:
		l, err := parseList(token, parseACLEntry)
		e.acl(l)
		return err
	case kindPaths:
		l, err := parseList(token, parseText)
		for i := range l.items {
			l.items[i] = s.expand(l.items[i])
		}
		e.texts(l)
		return err
	default:
		return fmt.Errorf("field of kind %d is never sent", k)
	}
}

// expand puts the root where a path has a tilde.
func (s scope) expand(t text) text {
	if rest, ok := strings.CutPrefix(t.value, "~"); ok {
		t.value = s.root + rest
	}
	return t
}

// shorten undoes expand.
func (s scope) shorten(t text) text {
	if rest, ok := strings.CutPrefix(t.value, s.root); ok {
		t.value = "~" + rest
	}
	return t
}

// zxid reads a number, or with a plus or minus one that counts from the base.
func (s scope) zxid(token string) (int64, error) {
	relative := strings.HasPrefix(token, "+") || strings.HasPrefix(token, "~")
	n, err := strconv.ParseInt(strings.TrimLeft(token, "+~"), 10, 64)
	if relative {
		n += s.base
	}
	return n, err
}
