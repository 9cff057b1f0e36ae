package metering_test

import (
	"go/ast"
	"go/parser"
	"go/token"
	"path/filepath"
	"strconv"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/turnstile-locks/turnstile/actors/metering"
	"github.com/turnstile-locks/turnstile/messages"
)

// TestEveryReasonHasAWord reads package messages: a reason that is declared there has a row, with a word of its own.
func TestEveryReasonHasAWord(t *testing.T) {
	sources, err := filepath.Glob("../../messages/*.go")
	require.NoError(t, err)
	var declared []messages.Reason
	for _, source := range sources {
		file, err := parser.ParseFile(token.NewFileSet(), source, nil, 0)
		require.NoError(t, err)
		for _, decl := range file.Decls {
			d, is := decl.(*ast.GenDecl)
			if !is || d.Tok != token.CONST {
				continue
			}
			for _, spec := range d.Specs {
				s := spec.(*ast.ValueSpec)
				if of, typed := s.Type.(*ast.Ident); !typed || of.Name != "Reason" || s.Names[0].Name == "ReasonNone" {
					continue
				}
				text, err := strconv.Unquote(s.Values[0].(*ast.BasicLit).Value)
				require.NoError(t, err)
				declared = append(declared, messages.Reason(text))
			}
		}
	}
	require.ElementsMatch(t, declared, messages.Reasons())
	words := map[string]bool{}
	for _, reason := range declared {
		word := metering.Reason(reason)
		require.Regexp(t, "^[a-z]+(_[a-z]+)*$", word, string(reason))
		require.False(t, words[word], word)
		words[word] = true
	}
	require.Greater(t, len(words), 15)
	require.Equal(t, "_OTHER", metering.Reason("something else"))
	require.Equal(t, "_OTHER", metering.Reason(messages.ReasonNone))
}
