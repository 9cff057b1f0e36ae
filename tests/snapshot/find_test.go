package snapshot

import (
	"testing"

	"github.com/stretchr/testify/require"
)

type inner struct {
	text  string
	bytes []byte
	array [6]byte
	any   any
	next  *inner
	by    map[string]*inner
	keep  func() string
}

func TestFind(t *testing.T) {
	const secret = "secret"
	at := func(change func(*inner)) []string {
		v := &inner{text: "harmless", bytes: []byte("harmless")}
		v.next = &inner{next: v} // a circle
		change(v.next)
		return FindText([]any{1, v, nil}, secret)
	}
	for path, change := range map[string]func(*inner){
		"value[1].next.text":           func(v *inner) { v.text = "top secrets" },
		"value[1].next.bytes":          func(v *inner) { v.bytes = []byte(secret) },
		"value[1].next.array":          func(v *inner) { copy(v.array[:], secret) },
		"value[1].next.any":            func(v *inner) { v.any = secret },
		"value[1].next.by[k].text":     func(v *inner) { v.by = map[string]*inner{"k": {text: secret}} },
		"value[1].next.by key":         func(v *inner) { v.by = map[string]*inner{secret: nil} },
		"value[1].next.any.next.bytes": func(v *inner) { v.any = inner{next: &inner{bytes: []byte(secret)}} },
	} {
		require.Equal(t, []string{path}, at(change))
	}
	require.Empty(t, at(func(v *inner) { v.keep = func() string { return secret } }))
	require.Empty(t, at(func(*inner) {}))
	require.Empty(t, FindText(nil, secret))
}
