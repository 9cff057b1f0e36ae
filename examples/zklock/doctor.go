package main

import (
	"context"
	"fmt"
	"net"

	"github.com/spf13/cobra"

	"github.com/turnstile-locks/turnstile/actors/inspect"
	"github.com/turnstile-locks/turnstile/zkconn"
)

func doctorCommand(conn *connection) *cobra.Command {
	var asJSON bool
	path, root := "/zklock-doctor", "/"
	cmd := &cobra.Command{
		Use:   "doctor [flags]",
		Short: "check everything, and say what to do where it fails",
		Long: `doctor looks at each server, at all addresses of its name (does it
resolve, does it listen, what version is it, does it serve), opens a session,
looks whether the chroot and --root exist, writes a node, reads it back and
deletes it, and measures whether the answers come in time for a lease. It cuts a
connection, and sees whether its session is given back. Below --root it names
what it could not read, contenders that no session's end deletes, locks on which
libraries meet that do not respect each other, deadlocks, and possible ones
(zklock help graph). It tells which sessions' ephemeral nodes weigh too much.
The calls that wait inside a process, without a node, it cannot see: only that
process's State counts them.

Exit status: 0 all is well, or only warnings; 1 something is wrong; 69 no
server could be reached.`,
		Example: `  zklock doctor
  zklock doctor --zk zk1:2181,zk2:2181,zk3:2181/app --session-timeout 30s
  zklock doctor --path /orders/doctor          # may we lock there?`,
		Args: checkArguments,
		RunE: func(cmd *cobra.Command, _ []string) error {
			if err := zkconn.CheckPath(path); err != nil {
				return badUse(withFlag(cmd, "--path /PATH"), "doctor: --path: %v", err)
			}
			if err := inspect.CheckRoot(root); err != nil {
				return badUse(withFlag(cmd, "--root /ROOT"), "doctor: --root: %v", err)
			}
			s, err := conn.settings(cmd)
			if err != nil {
				return err
			}
			ctx, stop := untilSignal(cmd.Context())
			defer stop()
			e := &examination{settings: s, path: path, root: root, timeout: conn.connectTimeout,
				lookUp: net.DefaultResolver.LookupHost, tell: printFinding}
			if asJSON {
				e.tell = func(finding) {}
			}
			e.examine(ctx)
			if ctx.Err() != nil {
				return context.Cause(ctx)
			}
			return e.verdict(asJSON)
		},
	}
	cmd.Flags().BoolVar(&asJSON, "json", false, "print JSON")
	cmd.Flags().StringVar(&path, "path", path, "the `path` to write at; nodes above are made where\nthey do not exist")
	cmd.Flags().StringVar(&root, "root", root, "the `path` below which to look at locks")
	return cmd
}

// examine goes through everything, as far as it gets.
func (e *examination) examine(ctx context.Context) {
	cfg, err := e.config()
	if err != nil { // settings has looked at it
		e.note(broken, "servers", "", "%v", err)
		return
	}
	e.addresses = e.addressesOf(ctx, cfg.Servers())
	e.lookAtServers(ctx)
	conn, granted, ok := e.openSession(ctx, cfg)
	if conn != nil {
		defer conn.Close()
	}
	if !ok {
		return
	}
	e.session, e.chroot = fmt.Sprintf("0x%x", conn.SessionID()), cfg.Chroot()
	goOn, root := e.lookForRoot(ctx, conn, cfg)
	if !goOn {
		return
	}
	trips, ok := e.writeAndRead(ctx, conn)
	if ok {
		e.judgeMargin(granted, trips)
	}
	e.lookAtReconnect(ctx)
	e.lookAtDumps(ctx)
	if root {
		e.lookAtContenders(ctx, conn)
		e.lookForDeadlocks(ctx, conn)
	}
}
