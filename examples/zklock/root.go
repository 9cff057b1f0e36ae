package main

import (
	"context"
	"os"
	"runtime/debug"
	"strings"

	"github.com/spf13/cobra"
)

// execute runs the program and gives its exit status.
func execute(args []string) int {
	root := rootCommand()
	root.SetArgs(args)
	err := root.ExecuteContext(context.Background())
	if err == nil {
		return 0
	}
	return report(err)
}

// report prints an error, and gives its exit status.
func report(err error) int {
	status, text := statusOf(err)
	if text != "" {
		_ = say(os.Stderr, "zklock: %s", strings.ReplaceAll(text, "\n", ": "))
	}
	return status
}

// released is the version that make dist was told to build. It is empty in programs that go build and go install make.
var released string

// version is the version of the release, or of the module that zklock was built from.
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
			if c.ValidArgsFunction == nil {
				c.ValidArgsFunction = cobra.NoFileCompletions
			}
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
