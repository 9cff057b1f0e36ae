package main

import (
	"fmt"
	"io"
	"strings"

	"github.com/turnstile-locks/turnstile/messages"
)

// writeDot writes the graph for Graphviz: a box for everybody who waits or is waited for, an arrow for each lock that
// one waits for, with deadlocks in red, and possible ones in orange.
func (g graph) writeDot(out io.Writer) error {
	var b strings.Builder
	b.WriteString("digraph locks {\n  rankdir=LR;\n")
	b.WriteString("  node [shape=box, fontname=\"sans-serif\"];\n  edge [fontname=\"sans-serif\"];\n")
	caught := map[string]bool{}
	for _, e := range g.edges {
		if e.deadlock > 0 {
			caught[vertex(e.waiter)] = true
		}
	}
	drawn := map[string]bool{}
	for _, e := range g.edges {
		for _, c := range []messages.Contender{e.waiter, e.behind} {
			name := vertex(c)
			if drawn[name] {
				continue
			}
			drawn[name] = true
			color := ""
			if caught[name] {
				color = ", color=red"
			}
			fmt.Fprintf(&b, "  %s [label=%s%s];\n", quoted(name), quoted(labelled(c)), color)
		}
	}
	for _, e := range g.edges {
		color := ""
		switch {
		case e.deadlock > 0:
			color = fmt.Sprintf(", color=red, fontcolor=red, tooltip=\"deadlock %d\"", e.deadlock)
		case e.possible > 0:
			color = fmt.Sprintf(", color=orange, fontcolor=orange, tooltip=\"possible deadlock %d\"", e.possible)
		}
		style := ""
		if !e.behind.Holds {
			style = ", style=dashed"
		}
		fmt.Fprintf(&b, "  %s -> %s [label=%s%s%s];\n", quoted(vertex(e.waiter)), quoted(vertex(e.behind)),
			quoted(printable(e.waiter.Path)), color, style)
	}
	b.WriteString("}\n")
	_, err := io.WriteString(out, b.String())
	return err
}

// vertex is who stands still while a contender waits: several contenders may be one's.
func vertex(c messages.Contender) string {
	if c.Who != "" {
		return c.Who
	}
	return c.At()
}

// quoted is a text as Graphviz reads it, which knows no other escapes than these.
func quoted(text string) string {
	return `"` + strings.NewReplacer(`\`, `\\`, `"`, `\"`).Replace(printable(text)) + `"`
}
