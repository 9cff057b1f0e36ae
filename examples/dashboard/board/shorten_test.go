package board

import (
	"encoding/json"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/stretchr/testify/require"

	"github.com/turnstile-locks/turnstile/messages"
)

// TestShorten: what fits is left alone, and what does not is cut between two letters.
func TestShorten(t *testing.T) {
	for _, text := range []string{"", "label", strings.Repeat("x", longestText), strings.Repeat("é", longestText/2)} {
		require.Equal(t, text, shorten(text))
	}
	for _, letter := range []string{"x", "é", "…", "𝄞"} {
		for _, before := range []string{"", "a", "ab", "abc"} {
			text := before + strings.Repeat(letter, longestText+1)
			short := shorten(text)
			require.True(t, utf8.ValidString(short), "%q", letter)
			require.LessOrEqual(t, len(short), longestText)
			require.Greater(t, len(short), longestText-utf8.UTFMax)
			kept, cut := strings.CutSuffix(short, ellipsis)
			require.True(t, cut)
			require.True(t, strings.HasPrefix(text, kept))
		}
	}
}

// TestLongTexts: nothing that a view shows, and nothing that is kept, is as long as somebody's node may be.
func TestLongTexts(t *testing.T) {
	long := strings.Repeat("é", 500_000)
	contender := func(number int, holds bool) messages.Contender {
		c := one(number, holds)
		c.Label, c.Host, c.Owner, c.Name, c.Caller, c.Actor, c.Who = long, long, long, long, long, long, long
		return c
	}
	require.Less(t, len(Name(contender(0, true))), 2*longestText)
	b := New("/")
	b.TakeQueue(after(0), queue())
	holder, waiter := contender(0, true), contender(1, false)
	found := []messages.Deadlock{{Members: []messages.Member{{Who: long, Keeps: holder, Waits: waiter}}}}
	b.TakeQueue(after(1), &messages.Queue{Path: "/lock", Contenders: []messages.Contender{holder, waiter}})
	b.TakeDeadlocks(found, nil)
	require.Equal(t, long, found[0].Members[0].Who, "what we were given is others'")
	for name, view := range map[string]any{
		"lock": b.Lock(after(2), "/lock", Shown{Holders: 1, Waiters: 1, Events: 10}), "overview": b.Overview(after(2), "", 10),
	} {
		text, err := json.Marshal(view)
		require.NoError(t, err)
		require.Contains(t, string(text), ellipsis, name)
		require.Less(t, len(text), 32*longestText, name)
	}
	for _, c := range b.tracks["/lock"].order {
		require.Less(t, len(c.Label)+len(c.Host)+len(c.Owner)+len(c.Name)+len(c.Caller)+len(c.Actor)+len(c.Who), 8*longestText)
	}
}
