package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"runtime/debug"
	"slices"
	"strconv"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/turnstile-locks/turnstile/zkconn"
)

// argsKey is where a command keeps what its arguments look like, for what to type.
const argsKey = "args"

// execute runs the program and gives its exit status.
func execute(args []string) int {
	root := rootCommand()
	root.SetArgs(args)
	err := root.ExecuteContext(context.Background())
	if err == nil {
		return 0
	}
	status, text := statusOf(err)
	if text != "" {
		fmt.Fprintf(os.Stderr, "zklock: %s\n", text)
	}
	return status
}

// released is the version that make dist was told to build. It is empty in what go build and go install make.
var released string

// version is the release's, or that of the module that zklock was built from.
func version() string {
	if released != "" {
		return released
	}
	if info, ok := debug.ReadBuildInfo(); ok && info.Main.Version != "" {
		return info.Main.Version
	}
	return "unknown"
}

// rootCommand puts the commands together.
func rootCommand() *cobra.Command {
	conn := &connection{}
	root := &cobra.Command{
		Use:     "zklock",
		Version: version(),
		Short:   "run commands under locks in ZooKeeper, and see who holds which",
		Long: `zklock runs commands under a lock that machines share, and shows who holds which
lock and who waits. It is flock for a ZooKeeper ensemble.

The servers are named by --zk or ` + serversVariable + `.`,
		Example: `  export ZOOKEEPER_SERVERS=zk1:2181,zk2:2181,zk3:2181
  zklock run /backup -- pg_dump -f /srv/dump orders   # one machine at a time
  zklock queue /backup                                # who holds it, who waits
  zklock revoke /backup                               # ask for it back
  zklock doctor                                       # does everything work?`,
		SilenceErrors: true, // they are printed by execute, as one sentence
		SilenceUsage:  true,
		Args:          cobra.ArbitraryArgs,
		RunE: func(cmd *cobra.Command, args []string) error {
			if len(args) == 0 {
				return badUse("zklock help", "no command is given")
			}
			return noCommand(cmd, "", args[0])
		},
	}
	root.SuggestionsMinimumDistance = 2
	root.CompletionOptions.HiddenDefaultCmd = false
	conn.addFlags(root)
	root.AddGroup(&cobra.Group{ID: "lock", Title: "Under a lock:"}, &cobra.Group{ID: "look",
		Title: "Who holds, who waits:"},
		&cobra.Group{ID: "mend", Title: "When a lock is stuck:"})
	add := func(group string, commands ...*cobra.Command) {
		for _, c := range commands {
			c.GroupID = group
			c.DisableFlagsInUseLine = true
			c.SuggestFor = otherWords[c.Name()]
			c.SetFlagErrorFunc(badFlag)
			root.AddCommand(c)
		}
	}
	add("lock", runCommand(conn), holdCommand(conn), permitsCommand(conn))
	add("look", queueCommand(conn), treeCommand(conn), traceCommand(conn), graphCommand(conn))
	add("mend", revokeCommand(conn), breakCommand(conn), doctorCommand(conn))
	add("", manCommand(), guardCommand())
	root.SetFlagErrorFunc(badFlag)
	root.SetUsageTemplate(usageTemplate(root.UsageTemplate()))
	root.InitDefaultHelpCmd()
	root.InitDefaultCompletionCmd()
	for _, c := range root.Commands() {
		refuseUnknown(root, c)
	}
	return root
}

// usageTemplate leaves the flags of the connection, which every command has, to zklock's own help.
func usageTemplate(usual string) string {
	from, to := strings.Index(usual, "{{if .HasAvailableInheritedFlags}}"), strings.Index(usual,
		"{{if .HasHelpSubCommands}}")
	if from < 0 || to < from {
		return usual
	}
	return usual[:from] + `{{if .HasAvailableInheritedFlags}}

The flags for servers, credentials and TLS: zklock help{{end}}` + usual[to:]
}

// refuseUnknown has "help" and "completion" say what they do not know, which cobra leaves without a word.
func refuseUnknown(root, c *cobra.Command) {
	switch c.Name() {
	case "help":
		help := c.Run
		c.Run, c.RunE = nil, func(cmd *cobra.Command, args []string) error {
			if found, rest, err := root.Find(args); err != nil || len(args) > 0 && (found == root || len(rest) > 0) {
				return noCommand(root, "help ", strings.Join(args, " "))
			}
			help(cmd, args)
			return nil
		}
	case "completion":
		c.Args = cobra.ArbitraryArgs
		c.RunE = func(_ *cobra.Command, args []string) error {
			if len(args) == 0 {
				return badUse("zklock completion bash", "completion: SHELL is missing")
			}
			return badUse("zklock completion bash, or zsh, fish, powershell", "completion: there is none for %q", args[0])
		}
		for _, shell := range c.Commands() {
			shell.Args = func(cmd *cobra.Command, args []string) error {
				if len(args) > 0 {
					return badUse(cmd.CommandPath(), "completion: %q is one argument too many", args[0])
				}
				return nil
			}
		}
	}
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

// oneDash is the flag that was meant where the dashes of a long one are too few; otherwise empty. What is said of it does
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

// form is how a command is typed.
func form(cmd *cobra.Command) string {
	return strings.TrimSpace(cmd.CommandPath() + " " + cmd.Annotations[argsKey])
}

// withFlag is how a command is typed with a flag.
func withFlag(cmd *cobra.Command, flag string) string {
	return strings.TrimSpace(cmd.CommandPath() + " " + flag + " " + cmd.Annotations[argsKey])
}

// named checks that a command is given the arguments that it names, no more and no fewer.
func named(names ...string) cobra.PositionalArgs {
	return func(cmd *cobra.Command, args []string) error {
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
