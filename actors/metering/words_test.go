package metering_test

import (
	"go/ast"
	"go/parser"
	"go/token"
	"strconv"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/turnstile-locks/turnstile/actors/metering"
	"github.com/turnstile-locks/turnstile/messages"
)

// TestEveryReasonHasAWord reads package messages: a reason that is added there gets a word of its own here.
func TestEveryReasonHasAWord(t *testing.T) {
	file, err := parser.ParseFile(token.NewFileSet(), "../../messages/reason.go", nil, 0)
	require.NoError(t, err)
	words := map[string]bool{}
	ast.Inspect(file, func(n ast.Node) bool {
		spec, is := n.(*ast.ValueSpec)
		if !is || spec.Names[0].Name == "ReasonNone" {
			return true
		}
		text, err := strconv.Unquote(spec.Values[0].(*ast.BasicLit).Value)
		require.NoError(t, err)
		word := metering.Reason(messages.Reason(text))
		require.Regexp(t, "^[a-z]+(_[a-z]+)*$", word, spec.Names[0].Name)
		require.False(t, words[word], word)
		words[word] = true
		return true
	})
	require.Greater(t, len(words), 15)
	require.Equal(t, "_OTHER", metering.Reason("something else"))
}
