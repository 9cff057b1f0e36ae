package main

import (
	"strings"

	"github.com/spf13/cobra"
)

// otherWords are what other programs call what zklock does.
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
