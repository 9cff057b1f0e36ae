package machine_test

import (
	"flag"
	"fmt"
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/turnstile-locks/turnstile/actors/machine"
	"github.com/turnstile-locks/turnstile/messages"
)

// TestTheDiagramInTheReadmeIsCurrent: README.md has the diagram of the table. With -rewrite it is drawn again.
func TestTheDiagramInTheReadmeIsCurrent(t *testing.T) {
	readme, err := os.ReadFile("README.md")
	require.NoError(t, err)
	before, rest, begins := strings.Cut(string(readme), diagramBegin)
	_, after, ends := strings.Cut(rest, diagramEnd)
	require.True(t, begins && ends, "README.md: the markers %q and %q are missing", diagramBegin, diagramEnd)
	drawn := before + diagramBlock() + after
	if flag.Lookup("rewrite").Value.String() == "true" { // the flag of package datadriven
		require.NoError(t, os.WriteFile("README.md", []byte(drawn), 0o644))
		return
	}
	require.Equal(t, drawn, string(readme), "the state diagram in actors/machine/README.md is stale: run `make diagram`")
}

// diagram draws the table as a Mermaid state diagram. Rows that stay where they are are left
// out; rows that join the same two states share an arrow.
func diagram() string {
	type arrow struct{ from, to messages.State }
	var order []arrow
	labels := map[arrow][]string{}
	for _, row := range machine.Rows() {
		if row.From == row.To {
			continue
		}
		a := arrow{row.From, row.To}
		if labels[a] == nil {
			order = append(order, a)
		}
		labels[a] = append(labels[a], label(row))
	}
	var b strings.Builder
	b.WriteString("stateDiagram-v2\n")
	for _, a := range order {
		fmt.Fprintf(&b, "    %s --> %s: %s\n", vertex(a.from), vertex(a.to), strings.Join(slices.Compact(labels[a]), "<br>"))
	}
	for _, s := range messages.States() {
		if s.Terminal() {
			fmt.Fprintf(&b, "    %s --> [*]\n", s)
		}
	}
	return b.String()
}

func vertex(s messages.State) string {
	if s == messages.StateNone {
		return "[*]"
	}
	return s.String()
}

func label(r machine.Row) string {
	text := r.On.String()
	if r.If.Name != "" {
		text += " [" + r.If.Name + "]"
	}
	return text
}

// The comments between which the diagram stands in a Markdown file.
const (
	diagramBegin = "<!-- diagram:begin (make diagram) -->"
	diagramEnd   = "<!-- diagram:end -->"
)

// diagramBlock is the diagram as it stands in a Markdown file, markers included.
func diagramBlock() string {
	return diagramBegin + "\n```mermaid\n" + diagram() + "```\n" + diagramEnd
}
