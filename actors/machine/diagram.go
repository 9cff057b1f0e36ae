package machine

import (
	"fmt"
	"slices"
	"strings"

	"github.com/turnstile-locks/turnstile/messages"
)

//go:generate go run ./diagram README.md

// Diagram draws the table as a Mermaid state diagram. Rows that stay where they are are left
// out; rows that join the same two states share an arrow.
func Diagram() string {
	type arrow struct{ from, to messages.State }
	var order []arrow
	labels := map[arrow][]string{}
	for _, row := range table {
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

func label(r Row) string {
	text := r.On.String()
	if r.If.Name != "" {
		text += " [" + r.If.Name + "]"
	}
	return text
}

// The comments between which the diagram stands in a Markdown file.
const (
	DiagramBegin = "<!-- diagram:begin (go generate ./actors/machine) -->"
	DiagramEnd   = "<!-- diagram:end -->"
)

// DiagramBlock is the diagram as it stands in a Markdown file, markers included.
func DiagramBlock() string {
	return DiagramBegin + "\n```mermaid\n" + Diagram() + "```\n" + DiagramEnd
}
