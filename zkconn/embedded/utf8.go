package embedded

import (
	"strings"
	"unicode/utf16"
	"unicode/utf8"
)

// null is what a null string is read as. No other is: text that was read is valid UTF-8.
const null = "\xff"

// readable turns bytes into text as Java does: what is not UTF-8 becomes U+FFFD, one for as many bytes as
// could have begun a character, and one for a surrogate.
func readable(b []byte) string {
	if utf8.Valid(b) {
		return string(b)
	}
	var text strings.Builder
	for len(b) > 0 {
		r, size := utf8.DecodeRune(b)
		if r == utf8.RuneError && size == 1 {
			size = malformed(b)
		}
		text.WriteRune(r)
		b = b[size:]
	}
	return text.String()
}

// surrogates writes text as ZooKeeper does: a character that is two in Java goes over the wire as two, each
// in three bytes.
func surrogates(s string) string {
	if strings.IndexFunc(s, func(r rune) bool { return r > 0xffff }) < 0 {
		return s
	}
	var text []byte
	for _, r := range s {
		if r <= 0xffff {
			text = utf8.AppendRune(text, r)
			continue
		}
		high, low := utf16.EncodeRune(r)
		for _, half := range []rune{high, low} {
			text = append(text, 0xe0|byte(half>>12), 0x80|byte(half>>6)&0x3f, 0x80|byte(half)&0x3f)
		}
	}
	return string(text)
}

// malformed is how many bytes one U+FFFD stands for.
func malformed(b []byte) int {
	least, most, more := byte(0x80), byte(0xbf), 0
	switch lead := b[0]; {
	case lead >= 0xc2 && lead <= 0xdf:
		more = 1
	case lead >= 0xe0 && lead <= 0xef:
		more = 2
		if lead == 0xe0 {
			least = 0xa0
		}
	case lead >= 0xf0 && lead <= 0xf4:
		more = 3
		if lead == 0xf0 {
			least = 0x90
		}
		if lead == 0xf4 {
			most = 0x8f
		}
	}
	n := 1
	for n <= more && n < len(b) && b[n] >= least && b[n] <= most {
		least, most = 0x80, 0xbf
		n++
	}
	return n
}
