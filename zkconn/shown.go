package zkconn

import (
	"strconv"
	"strings"
	"unicode"
)

// Shown gives a path, or another text of somebody else's, for an error or a log that people read: as it is, or quoted
// where it has a character that a terminal would act on, such as ESC.
func Shown(text string) string {
	if strings.ContainsFunc(text, func(r rune) bool { return !unicode.IsPrint(r) }) {
		return strconv.Quote(text)
	}
	return text
}
