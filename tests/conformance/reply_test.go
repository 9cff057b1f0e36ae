package conformance

import (
	"fmt"
	"slices"
	"strings"
)

// reply shows all that a server answered to an operation, after the header.
func (m *mask) reply(o operation, code int32, d *decoder) []shown {
	var out []shown
	if code == 0 || len(d.bytes) > 0 {
		for _, f := range layouts[o.name].reply {
			out = append(out, m.field(f, o, d)...)
		}
	}
	if d.err != nil {
		out = append(out, shown{"body", d.err.Error()})
	}
	if len(d.bytes) > 0 {
		out = append(out, shown{"more", fmt.Sprintf("%x", d.bytes)})
	}
	return out
}

func (m *mask) field(f field, o operation, d *decoder) []shown {
	one := func(value string) []shown { return []shown{{f.key, value}} }
	switch f.kind {
	case kindPath:
		return one(m.shorten(d.text()).String())
	case kindText:
		return one(showData(d.text()))
	case kindInt:
		n := d.int32()
		if f.key == "number" && o.isOnTop() {
			n -= m.nodes
		}
		return one(fmt.Sprint(n))
	case kindACL:
		return one(m.acl(d.acl()))
	case kindNames:
		return one(m.children(d.texts()))
	case kindNamesOfPaths:
		return one(m.paths(d.texts()))
	case kindStat:
		return m.stat(o.isOnTop(), d.stat())
	case kindClients:
		return one(clients(d))
	case kindResults:
		return m.results(o.parts, d)
	default:
		return one(fmt.Sprintf("field of kind %d is never answered", f.kind))
	}
}

// clients are sorted: a real server gives them in the order of its hash table.
func clients(d *decoder) string {
	l := decodeList(d, func() string { return d.text().String() + ":" + d.text().String() })
	slices.Sort(l.items)
	return l.format(func(s string) string { return s })
}

// resultLayouts says what each type of result in a multi's answer carries.
var resultLayouts = map[int32][]field{
	-1: {{"error", kindInt, ""}},
	1:  {{"path", kindPath, ""}},
	2:  nil,
	4:  {{"data", kindText, ""}, {"stat", kindStat, ""}},
	5:  {{"stat", kindStat, ""}},
	8:  {{"children", kindNames, ""}},
	13: nil,
	15: created2,
	19: created2,
	21: created2,
}

// results shows a multi's answers, each with its header.
func (m *mask) results(parts []operation, d *decoder) []shown {
	var out []shown
	for i := 0; d.err == nil; i++ {
		code, done, err := d.int32(), d.bool(), d.int32()
		if done {
			return append(out, shown{"end", fmt.Sprintf("%d/%d", code, err)})
		}
		fields, known := resultLayouts[code]
		var body []string
		var part operation
		if i < len(parts) {
			part = parts[i]
		}
		for _, f := range fields {
			for _, s := range m.field(f, part, d) {
				body = append(body, s.name+"="+s.value)
			}
		}
		out = append(out, shown{fmt.Sprint(i), fmt.Sprintf("(%d/%d %s)", code, err, strings.Join(body, " "))})
		if !known {
			return out
		}
	}
	return out
}

var eventNames = map[int32]string{1: "created", 2: "deleted", 3: "changed", 4: "children"}

func (m *mask) event(d *decoder) []shown {
	code, state, path := d.int32(), d.int32(), m.shorten(d.text())
	name, ok := eventNames[code]
	if !ok {
		name = fmt.Sprint(code)
	}
	out := []shown{{"type", name}, {"path", path.String()}}
	if state != 3 {
		out = append(out, shown{"state", fmt.Sprint(state)})
	}
	if d.err != nil || len(d.bytes) > 0 {
		out = append(out, shown{"body", fmt.Sprintf("%v and %x", d.err, d.bytes)})
	}
	return out
}
