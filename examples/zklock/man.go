package main

import (
	"bufio"
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
)

func manCommand() *cobra.Command {
	return &cobra.Command{
		Use:   "man",
		Short: "print the manual page",
		Long: `man prints zklock's manual page, as man(1) reads it. It says what the help of all
commands says.`,
		Example: `  zklock man > /usr/local/share/man/man1/zklock.1
  zklock man | man -l -`,
		Args: checkArguments,
		RunE: func(cmd *cobra.Command, _ []string) error { return writeManual(cmd.OutOrStdout(), cmd.Root()) },
	}
}

// writeManual writes the manual page of a tree of commands in roff, with the macros of man(7). All of its text is the
// help's, so that neither can say what the other does not. It has no date: the same version is the same page.
func writeManual(to io.Writer, root *cobra.Command) error {
	buffered := bufio.NewWriter(to)
	m := &manual{out: buffered}
	m.macro("TH", strings.ToUpper(root.Name()), "1", "", root.Name()+" "+root.Version, "")
	m.macro("SH", "NAME")
	m.line(root.Name() + ` \- ` + escapeRoff(root.Short))
	m.macro("SH", "SYNOPSIS")
	commands := shownCommands(root)
	for _, c := range commands {
		m.macro("br")
		m.line(`\fB` + escapeRoff(c.CommandPath()) + `\fR` + escapeRoff(strings.TrimPrefix(c.UseLine(), c.CommandPath())))
	}
	m.macro("SH", "DESCRIPTION")
	m.prose(root.Long)
	m.examples(root)
	m.macro("SH", "COMMANDS")
	for _, c := range commands {
		m.command(c)
	}
	m.macro("SH", "SERVERS, CREDENTIALS AND TLS")
	m.line("Every command that talks to servers takes these flags.")
	m.flags(root.PersistentFlags())
	return buffered.Flush()
}

// shownCommands gives the commands that do something and are not hidden, with the ones below them,
// group by group as in the help.
func shownCommands(c *cobra.Command) (shown []*cobra.Command) {
	groups := []string{}
	for _, g := range c.Groups() {
		groups = append(groups, g.ID)
	}
	groups = append(groups, "")
	ordered := slices.SortedStableFunc(slices.Values(c.Commands()), func(a, b *cobra.Command) int {
		return slices.Index(groups, a.GroupID) - slices.Index(groups, b.GroupID)
	})
	for _, sub := range ordered {
		if sub.Hidden {
			continue
		}
		if below := shownCommands(sub); len(below) > 0 {
			shown = append(shown, below...)
			continue
		}
		shown = append(shown, sub)
	}
	return shown
}

// manual writes roff.
type manual struct{ out *bufio.Writer }

func (m *manual) line(text string) { fmt.Fprintln(m.out, text) }

// macro writes a request with its arguments.
func (m *manual) macro(name string, args ...string) {
	m.out.WriteString("." + name)
	for _, a := range args {
		m.out.WriteString(` "` + strings.ReplaceAll(escapeRoff(a), `"`, `\(dq`) + `"`)
	}
	m.out.WriteByte('\n')
}

// command writes the help of a command.
func (m *manual) command(c *cobra.Command) {
	m.macro("SS", strings.TrimPrefix(c.UseLine(), c.Root().Name()+" "))
	if c.Long == "" {
		m.line(escapeRoff(c.Short))
	} else {
		m.prose(c.Long)
	}
	m.flags(c.LocalNonPersistentFlags())
	m.examples(c)
}

// prose writes text that is laid out for a terminal. Indented lines, and the line before them, stay as they are;
// the rest is filled anew.
func (m *manual) prose(text string) {
	for paragraph := range strings.SplitSeq(strings.TrimSpace(text), "\n\n") {
		m.macro("PP")
		if strings.Contains("\n"+paragraph, "\n ") {
			m.verbatim(paragraph)
			continue
		}
		for line := range strings.SplitSeq(paragraph, "\n") {
			m.line(escapeRoff(strings.TrimSpace(line)))
		}
	}
}

func (m *manual) verbatim(text string) {
	m.macro("nf")
	for line := range strings.SplitSeq(text, "\n") {
		m.line(escapeRoff(line))
	}
	m.macro("fi")
}

func (m *manual) examples(c *cobra.Command) {
	if c.Example == "" {
		return
	}
	m.macro("PP")
	m.line("Examples:")
	m.macro("PP")
	m.verbatim(strings.Trim(c.Example, "\n"))
}

// flags writes a set of flags, each with its help.
func (m *manual) flags(set *pflag.FlagSet) {
	set.VisitAll(func(f *pflag.Flag) {
		if f.Hidden || f.Name == "help" { // which cobra gives to the command that is run
			return
		}
		value, usage := pflag.UnquoteUsage(f)
		name := `\fB\-\-` + escapeRoff(f.Name) + `\fR`
		if f.Shorthand != "" {
			name = `\fB\-` + f.Shorthand + `\fR, ` + name
		}
		if value != "" {
			name += ` \fI` + escapeRoff(value) + `\fR`
		}
		m.macro("TP")
		m.line(name)
		for line := range strings.SplitSeq(usage, "\n") {
			m.line(escapeRoff(line))
		}
		if shown := usualValue(f); shown != "" {
			m.line(escapeRoff(shown))
		}
	})
}

// usualValue gives a flag's default as the help shows it.
func usualValue(f *pflag.Flag) string {
	switch f.DefValue {
	case "", "0", "0s", "false", "[]":
		return ""
	}
	return "(default " + f.DefValue + ")"
}

// escapeRoff keeps roff from reading a text as anything but text. A hyphen is written so that it can be copied from
// the page as it is typed, and a period or a quote does not begin a request.
func escapeRoff(text string) string {
	text = strings.NewReplacer(`\`, `\e`, `-`, `\-`, "…", "...").Replace(text)
	if strings.HasPrefix(text, ".") || strings.HasPrefix(text, "'") {
		text = `\&` + text
	}
	return text
}
