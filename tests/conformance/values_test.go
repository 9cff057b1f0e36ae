package conformance

import (
	"fmt"
	"strconv"
	"strings"
)

// text is a jute string or buffer: bytes, or null, which is not empty.
type text struct {
	value string
	null  bool
}

// list is a jute vector: items, or null, which is not empty.
type list[T any] struct {
	items []T
	null  bool
}

// aclEntry is one line of a node's access control list.
type aclEntry struct {
	perms      int32
	scheme, id text
}

// A value is written plainly where nothing in it could be misread, as a Go string otherwise, as
// x*1000 for a thousand times x, and null for null.

const (
	plainLimit = 100
	// fillLimit is above everything that a server accepts.
	fillLimit = 4 << 20
)

func (t text) String() string {
	if t.null {
		return "null"
	}
	if len(t.value) > plainLimit {
		if strings.Count(t.value, t.value[:1]) == len(t.value) {
			return fmt.Sprintf("%s*%d", quoteIfNeeded(t.value[:1]), len(t.value))
		}
	}
	return quoteIfNeeded(t.value)
}

func quoteIfNeeded(s string) string {
	if s == "" || s == "null" {
		return strconv.Quote(s)
	}
	for _, r := range s {
		plain := r == '/' || r == '.' || r == '-' || r == '_' || r == '~' || r == ':' || r == '=' || r == '+' ||
			r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z' || r >= '0' && r <= '9'
		if !plain {
			return strconv.Quote(s)
		}
	}
	return s
}

func parseText(token string) (text, error) {
	if token == "null" {
		return text{null: true}, nil
	}
	if unit, count, ok := strings.Cut(token, "*"); ok && !strings.HasPrefix(token, `"`) {
		n, err := strconv.Atoi(count)
		if err != nil || n < 0 || n*len(unit) > fillLimit {
			return text{}, fmt.Errorf("bad repetition %q", token)
		}
		return text{value: strings.Repeat(unit, n)}, nil
	}
	if strings.HasPrefix(token, `"`) {
		value, err := strconv.Unquote(token)
		return text{value: value}, err
	}
	return text{value: token}, nil
}

func (l list[T]) format(item func(T) string) string {
	if l.null {
		return "null"
	}
	out := make([]string, len(l.items))
	for i, it := range l.items {
		out[i] = item(it)
	}
	return "[" + strings.Join(out, ",") + "]"
}

func parseList[T any](token string, item func(string) (T, error)) (list[T], error) {
	if token == "null" {
		return list[T]{null: true}, nil
	}
	inside, ok := strings.CutPrefix(token, "[")
	inside, ok2 := strings.CutSuffix(inside, "]")
	if !ok || !ok2 {
		return list[T]{}, fmt.Errorf("%q is no list", token)
	}
	var out list[T]
	for inside != "" {
		var first string
		first, inside = cutItem(inside)
		value, err := item(first)
		if err != nil {
			return list[T]{}, err
		}
		out.items = append(out.items, value)
	}
	return out, nil
}

// cutItem cuts at the first comma that is not inside quotes.
func cutItem(s string) (first, rest string) {
	quoted := false
	for i := 0; i < len(s); i++ {
		switch {
		case quoted && s[i] == '\\':
			i++
		case s[i] == '"':
			quoted = !quoted
		case !quoted && s[i] == ',':
			return s[:i], s[i+1:]
		}
	}
	return s, ""
}

func (a aclEntry) String() string {
	// A scheme with a colon in it would not be read back.
	return fmt.Sprintf("%d:%s:%s", a.perms, a.scheme, a.id)
}

func parseACLEntry(token string) (aclEntry, error) {
	parts := strings.SplitN(token, ":", 3)
	if len(parts) != 3 {
		return aclEntry{}, fmt.Errorf("%q is not perms:scheme:id", token)
	}
	perms, err := strconv.ParseInt(parts[0], 10, 32)
	if err != nil {
		return aclEntry{}, err
	}
	scheme, err := parseText(parts[1])
	if err != nil {
		return aclEntry{}, err
	}
	id, err := parseText(parts[2])
	return aclEntry{perms: int32(perms), scheme: scheme, id: id}, err
}
