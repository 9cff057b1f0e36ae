package conformance

import (
	"fmt"
	"strconv"
	"strings"
)

// parseOperations reads what render writes: an operation a line. Empty lines, and lines that begin
// with #, are left out.
func parseOperations(source string) ([]operation, error) {
	var out []operation
	for line := range strings.Lines(source) {
		line = strings.TrimSpace(line)
		if line == "" || strings.HasPrefix(line, "#") {
			continue
		}
		tokens, err := tokenize(line)
		if err != nil {
			return nil, fmt.Errorf("%s: %w", line, err)
		}
		session, err := strconv.Atoi(strings.TrimPrefix(tokens[0], "s"))
		if err != nil || session < 0 || session >= slots {
			return nil, fmt.Errorf("%s: no session", line)
		}
		o, rest, err := parseOne(tokens[1:])
		if err == nil && len(rest) > 0 {
			err = fmt.Errorf("%q is left over", rest)
		}
		if err != nil {
			return nil, fmt.Errorf("%s: %w", line, err)
		}
		out = append(out, o.on(session))
	}
	return out, nil
}

func parseOne(tokens []string) (operation, []string, error) {
	if len(tokens) == 0 {
		return operation{}, nil, fmt.Errorf("no operation")
	}
	o := operation{name: tokens[0]}
	layout, known := layouts[o.name]
	if !known {
		return o, nil, fmt.Errorf("unknown operation %q", o.name)
	}
	tokens = tokens[1:]
	for len(tokens) > 0 {
		key, value, ok := strings.Cut(tokens[0], "=")
		if !ok {
			break
		}
		if !layout.knows(key) {
			return o, nil, fmt.Errorf("%s has no %q", o.name, key)
		}
		o.args = append(o.args, argument{key, value})
		tokens = tokens[1:]
	}
	if !o.compound() || len(tokens) == 0 || tokens[0] != "{" {
		return o, tokens, nil
	}
	tokens = tokens[1:]
	for len(tokens) > 0 && tokens[0] != "}" {
		part, rest, err := parseOne(tokens)
		if err != nil {
			return o, nil, err
		}
		o.parts = append(o.parts, part)
		tokens = rest
		if len(tokens) > 0 && tokens[0] == ";" {
			tokens = tokens[1:]
		}
	}
	if len(tokens) == 0 {
		return o, nil, fmt.Errorf("no closing brace")
	}
	return o, tokens[1:], nil
}

// tokenize splits at spaces and semicolons that are not inside quotes.
func tokenize(line string) ([]string, error) {
	var out []string
	var word strings.Builder
	flush := func() {
		if word.Len() > 0 {
			out = append(out, word.String())
			word.Reset()
		}
	}
	quoted := false
	for i := 0; i < len(line); i++ {
		c := line[i]
		switch {
		case quoted && c == '\\' && i+1 < len(line):
			word.WriteByte(c)
			i++
			word.WriteByte(line[i])
		case c == '"':
			quoted = !quoted
			word.WriteByte(c)
		case !quoted && c == ' ':
			flush()
		case !quoted && c == ';':
			flush()
			out = append(out, ";")
		default:
			word.WriteByte(c)
		}
	}
	flush()
	if quoted {
		return nil, fmt.Errorf("quotes do not end")
	}
	return out, nil
}
