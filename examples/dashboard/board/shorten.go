package board

import (
	"slices"
	"unicode/utf8"

	"github.com/turnstile-locks/turnstile/messages"
)

// longestText bounds, in bytes, each text that others have written into their nodes: such a node may hold a megabyte.
const longestText = 1024

// ellipsis stands for the rest of a text.
const ellipsis = "…"

// shorten cuts a text after a whole letter. The short text does not keep the whole one in memory.
func shorten(text string) string {
	if len(text) <= longestText {
		return text
	}
	end := longestText - len(ellipsis)
	for end > 0 && !utf8.RuneStart(text[end]) {
		end--
	}
	return text[:end] + ellipsis
}

// shortened is a contender whose texts are.
func shortened(c messages.Contender) messages.Contender {
	for _, text := range []*string{&c.Label, &c.Host, &c.Owner, &c.Name, &c.Caller, &c.Actor, &c.Who} {
		*text = shorten(*text)
	}
	return c
}

// shortenedAll gives the same of deadlocks, which are left as they are.
func shortenedAll(all []messages.Deadlock) []messages.Deadlock {
	all = slices.Clone(all)
	for i := range all {
		all[i].Members = slices.Clone(all[i].Members)
		for j := range all[i].Members {
			m := &all[i].Members[j]
			m.Who, m.Waits, m.Keeps = shorten(m.Who), shortened(m.Waits), shortened(m.Keeps)
		}
	}
	return all
}
