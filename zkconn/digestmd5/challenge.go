package digestmd5

import (
	"errors"
	"fmt"
	"slices"
	"strings"
)

// challenge is a server's first message (RFC 2831, section 2.1.1).
type challenge struct {
	realms []string
	nonce  string
	utf8   bool // user and realm go as UTF-8; otherwise as ISO 8859-1
}

// maxChallenge is the bound of the RFC, in bytes.
const maxChallenge = 2047

func parseChallenge(text []byte) (c challenge, err error) {
	if len(text) > maxChallenge {
		return c, fmt.Errorf("%d bytes: must be %d at most", len(text), maxChallenge)
	}
	pairs, err := parse(text)
	if err != nil {
		return c, err
	}
	if c.nonce, err = pairs.only("nonce"); err != nil {
		return c, err
	}
	algorithm, err := pairs.only("algorithm")
	if err != nil {
		return c, err
	}
	if algorithm != "md5-sess" {
		return c, fmt.Errorf("algorithm %q: must be md5-sess", algorithm)
	}
	if c.utf8, err = pairs.charset(); err != nil {
		return c, err
	}
	// One value may come several times: each is a realm.
	c.realms = pairs.all("realm")
	return c, pairs.allowsAuth()
}

// charset reports whether the character set is UTF-8; the RFC knows no other name for one.
func (p pairs) charset() (utf8 bool, err error) {
	if len(p.all("charset")) == 0 {
		return false, nil
	}
	name, err := p.only("charset")
	if err == nil && !strings.EqualFold(name, "utf-8") {
		err = fmt.Errorf("charset %q: must be utf-8", name)
	}
	return err == nil, err
}

// allowsAuth checks that the server allows authentication alone, without protection of later
// messages. Servers offer that unless they say otherwise.
func (p pairs) allowsAuth() error {
	if len(p.all("qop")) == 0 {
		return nil
	}
	offers, err := p.only("qop")
	if err != nil {
		return err
	}
	for offer := range strings.SplitSeq(offers, ",") {
		if strings.EqualFold(strings.Trim(offer, " \t\r\n"), "auth") {
			return nil
		}
	}
	return fmt.Errorf("qop %q: does not offer auth", offers)
}

// realm chooses a realm that the server offers: the wanted one, or the first; "" where it offers no
// realm.
func (c challenge) realm(wanted string) (string, error) {
	switch {
	case wanted != "" && !slices.Contains(c.realms, wanted):
		return "", fmt.Errorf("realm %q: the server offers %q", wanted, c.realms)
	case wanted != "":
		return wanted, nil
	case len(c.realms) == 0:
		return "", nil
	}
	return c.realms[0], nil
}

// pair is name=value; pairs are in the order in which they came.
type pair struct{ name, value string }

type pairs []pair

func (p pairs) all(name string) (values []string) {
	for _, pair := range p {
		if strings.EqualFold(pair.name, name) {
			values = append(values, pair.value)
		}
	}
	return values
}

// only gives the value of a name that must be there once.
func (p pairs) only(name string) (string, error) {
	values := p.all(name)
	if len(values) != 1 || values[0] == "" {
		return "", fmt.Errorf("%s: must be there once and not empty, and is there %d times", name, len(values))
	}
	return values[0], nil
}

var errNotPairs = errors.New("not a list of name=value pairs")

// parse reads name=value pairs between commas. A value is a token, or quoted, with a backslash in front of a
// character that means itself. Empty elements are passed over, as in RFC 2616's lists.
func parse(text []byte) (found pairs, err error) {
	rest := string(text)
	for {
		rest = strings.TrimLeft(rest, ", \t\r\n")
		if rest == "" {
			return found, nil
		}
		var next pair
		if next, rest, err = parsePair(rest); err != nil {
			return nil, err
		}
		found = append(found, next)
		rest = strings.TrimLeft(rest, " \t\r\n")
		if rest != "" && rest[0] != ',' {
			return nil, fmt.Errorf("%w: no comma behind %s", errNotPairs, next.name)
		}
	}
}

func parsePair(text string) (p pair, rest string, err error) {
	name, rest, found := strings.Cut(text, "=")
	p.name = strings.TrimRight(name, " \t\r\n")
	if !found || !isToken(p.name) {
		return p, "", fmt.Errorf("%w: no name", errNotPairs)
	}
	rest = strings.TrimLeft(rest, " \t\r\n")
	if strings.HasPrefix(rest, `"`) {
		p.value, rest, found = unquote(rest[1:])
		if !found {
			return p, "", fmt.Errorf("%w: no end of the value of %s", errNotPairs, p.name)
		}
		return p, rest, nil
	}
	end := strings.IndexAny(rest, ", \t\r\n")
	if end < 0 {
		end = len(rest)
	}
	p.value = rest[:end]
	if !isToken(p.value) {
		return p, "", fmt.Errorf("%w: value of %s", errNotPairs, p.name)
	}
	return p, rest[end:], nil
}

// unquote reads up to the quotation mark that ends a value.
func unquote(text string) (value, rest string, found bool) {
	var out strings.Builder
	for i := 0; i < len(text); i++ {
		switch text[i] {
		case '"':
			return out.String(), text[i+1:], true
		case '\\':
			if i++; i == len(text) {
				return "", "", false
			}
		}
		out.WriteByte(text[i])
	}
	return "", "", false
}

// isToken wants one or more characters of US-ASCII that are neither controls nor separators.
func isToken(text string) bool {
	for i := range len(text) {
		if c := text[i]; c <= ' ' || c >= 0x7f || strings.IndexByte(`()<>@,;:\"/[]?={}`, c) >= 0 {
			return false
		}
	}
	return text != ""
}
