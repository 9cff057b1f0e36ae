package wire

import "strings"

// Valid gives a text as valid UTF-8. A message with any other is never sent: protoactor's remote logs
// that it cannot be serialized, and drops it.
func Valid(text string) string { return strings.ToValidUTF8(text, "\uFFFD") }

func validAll(texts []string) []string {
	var all []string
	for _, text := range texts {
		all = append(all, Valid(text))
	}
	return all
}
