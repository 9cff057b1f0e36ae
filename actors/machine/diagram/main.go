// Command diagram writes the machine's Mermaid diagram into a Markdown file, between the two marker
// comments. It is run by go generate ./actors/machine.
package main

import (
	"fmt"
	"os"
	"strings"

	"github.com/turnstile-locks/turnstile/actors/machine"
)

func main() {
	if len(os.Args) != 2 {
		fmt.Fprintln(os.Stderr, "usage: diagram FILE.md")
		os.Exit(2)
	}
	if err := rewrite(os.Args[1]); err != nil {
		fmt.Fprintln(os.Stderr, "diagram:", err)
		os.Exit(1)
	}
}

func rewrite(file string) error {
	text, err := os.ReadFile(file)
	if err != nil {
		return err
	}
	before, rest, ok1 := strings.Cut(string(text), machine.DiagramBegin)
	_, after, ok2 := strings.Cut(rest, machine.DiagramEnd)
	if !ok1 || !ok2 {
		return fmt.Errorf("%s: the markers %q and %q are missing", file, machine.DiagramBegin, machine.DiagramEnd)
	}
	return os.WriteFile(file, []byte(before+machine.DiagramBlock()+after), 0o644)
}
