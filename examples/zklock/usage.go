package main

import (
	"errors"
	"fmt"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
	"github.com/turnstile-locks/turnstile/zkconn"
)

// optional is what may be left out of a command's usage.
var optional = regexp.MustCompile(`\[[^]]*\]`)

// arguments gives the form of a command's arguments.
func arguments(cmd *cobra.Command) []string {
	return strings.Fields(optional.ReplaceAllString(cmd.Use, ""))[1:]
}

// form gives a command as it is typed.
func form(cmd *cobra.Command) string { return withFlag(cmd, "") }

// withFlag gives a command with a flag as it is typed.
func withFlag(cmd *cobra.Command, flag string) string {
	return strings.Join(strings.Fields(cmd.CommandPath()+" "+flag+" "+strings.Join(arguments(cmd), " ")), " ")
}

// checkArguments checks that a command is given the arguments that its usage names, no more and no fewer.
func checkArguments(cmd *cobra.Command, args []string) error {
	names := arguments(cmd)
	if len(args) < len(names) {
		return badUse(form(cmd), "%s: %s is missing", cmd.Name(), names[len(args)])
	}
	if len(args) > len(names) {
		return badUse(form(cmd), "%s: %q is one argument too many", cmd.Name(), args[len(names)])
	}
	for i, name := range names {
		if args[i] == "" { // a variable of a script that is not set; every node's name has it as a part
			return badUse(form(cmd), "%s: %s is empty", cmd.Name(), name)
		}
		if err := checkArgument(cmd, name, args[i]); err != nil {
			return err
		}
	}
	return nil
}

// checkArgument refuses a path that cannot be one.
func checkArgument(cmd *cobra.Command, name, value string) error {
	if name == "ROOT" && value == "/" || !slices.Contains([]string{"PATH", "ROOT"}, name) {
		return nil
	}
	if err := zkconn.CheckPath(value); err != nil {
		return badUse(form(cmd), "%s: %v", cmd.Name(), err)
	}
	return nil
}

// badFlag is the error of a flag that does not exist, or has no such value.
func badFlag(cmd *cobra.Command, err error) error {
	if name := oneDash(cmd, err); name != "" {
		return badUse("zklock help "+cmd.Name(), "%s: -%s has one dash, where a name of several letters has two", cmd.Name(), name)
	}
	if err := withoutUnit(cmd, err); err != nil {
		return err
	}
	if !cmd.HasParent() {
		return badUse("zklock help", "%v", err)
	}
	if cmd.Name() == "run" && strings.HasPrefix(err.Error(), "unknown") {
		return badUse(form(cmd), "run: %v (the command's own flags come after --)", err)
	}
	return badUse("zklock help "+strings.TrimPrefix(strings.TrimPrefix(cmd.CommandPath(), "zklock"), " "),
		"%s: %v", cmd.Name(), err)
}

// withoutUnit is the error of a time that is a number only; nil where it is another.
func withoutUnit(cmd *cobra.Command, err error) error {
	var invalid *pflag.InvalidValueError
	if !errors.As(err, &invalid) || invalid.GetFlag().Value.Type() != "duration" {
		return nil
	}
	if _, err := strconv.ParseFloat(invalid.GetValue(), 64); err != nil {
		return nil
	}
	name, value := invalid.GetFlag().Name, invalid.GetValue()
	return badUse(withFlag(cmd, fmt.Sprintf("--%s %ss", name, value)), "%s: --%s %s has no unit (s, m, h)", cmd.Name(), name, value)
}

// oneDash is the flag that was meant where the dashes of a long one are too few; otherwise empty. The message does
// not repeat its value, which may be a secret.
func oneDash(cmd *cobra.Command, err error) string {
	var unknown *pflag.NotExistError
	if !errors.As(err, &unknown) {
		return ""
	}
	name, _, _ := strings.Cut(unknown.GetSpecifiedShortnames(), "=")
	if len(name) < 2 || cmd.Flag(name) == nil {
		return ""
	}
	return name
}

// otherWords are other programs' names for zklock's commands.
var otherWords = map[string][]string{
	"run":     {"lock", "exec", "do", "flock", "with"},
	"hold":    {"acquire", "take", "keep"},
	"permits": {"semaphore", "set"},
	"queue":   {"show", "status", "who", "holder", "holders", "info"},
	"tree":    {"list", "locks", "all"},
	"trace":   {"watch", "follow", "log", "tail"},
	"graph":   {"deadlock", "deadlocks", "waits"},
	"revoke":  {"unlock", "release", "ask"},
	"break":   {"kill", "delete", "remove", "steal", "force"},
	"doctor":  {"check", "diagnose", "test", "ping"},
}

// noCommand says that there is no such command, and which one was meant, as far as that can be guessed.
func noCommand(root *cobra.Command, before, name string) error {
	near := root.SuggestionsFor(name)
	switch len(near) {
	case 0:
		return badUse("zklock help", "there is no command %q", name)
	case 1:
		return badUse("zklock "+before+near[0], "there is no command %q; did you mean %s?", name, near[0])
	}
	return badUse("zklock "+before+near[0], "there is no command %q; did you mean one of %s?", name,
		strings.Join(near, ", "))
}
