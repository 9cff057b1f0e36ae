package conformance

import (
	"fmt"
	"strconv"
	"strings"
)

// operation is one operation of a session. Its arguments stay in their written form, so that the
// printed text can be run again:
//
//	s0 create path=~/a data=x flags=3
//	s1 multi { check path=~/a version=2; delete path=~/a }
//
// A tilde at the start of a path is the root of the sequence. An argument that is left out has the
// default of the operation's layout.
type operation struct {
	session int
	name    string
	args    []argument
	parts   []operation // of a multi or a burst
}

type argument struct{ key, value string }

// on says which session does it.
func (o operation) on(session int) operation {
	o.session = session
	return o
}

// with sets an argument.
func (o operation) with(key string, value any) operation {
	args := make([]argument, 0, len(o.args)+1)
	for _, a := range o.args {
		if a.key != key {
			args = append(args, a)
		}
	}
	o.args = append(args, argument{key, fmt.Sprint(value)})
	return o
}

func (o operation) get(key string) (string, bool) {
	for _, a := range o.args {
		if a.key == key {
			return a.value, true
		}
	}
	return "", false
}

// number is for arguments that the harness itself understands.
func (o operation) number(key string, otherwise int64) int64 {
	value, ok := o.get(key)
	if !ok {
		return otherwise
	}
	n, err := strconv.ParseInt(value, 10, 64)
	if err != nil {
		return otherwise
	}
	return n
}

// count is the number of requests that the operation stands for.
func (o operation) count() int {
	if o.name == burst {
		return len(o.parts)
	}
	return 1
}

func (o operation) String() string { return fmt.Sprintf("s%d %s", o.session, o.bare()) }

func (o operation) bare() string {
	var b strings.Builder
	b.WriteString(o.name)
	for _, a := range o.args {
		fmt.Fprintf(&b, " %s=%s", a.key, a.value)
	}
	if o.compound() {
		parts := make([]string, len(o.parts))
		for i, part := range o.parts {
			parts[i] = part.bare()
		}
		fmt.Fprintf(&b, " { %s }", strings.Join(parts, "; "))
	}
	return b.String()
}

func (o operation) compound() bool {
	return o.name == burst || o.name == "multi" || o.name == "multiRead"
}

func render(operations []operation) string {
	var b strings.Builder
	for _, o := range operations {
		fmt.Fprintln(&b, o)
	}
	return b.String()
}
