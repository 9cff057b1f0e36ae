package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/turnstile-locks/turnstile/locks"
	"github.com/turnstile-locks/turnstile/zkconn"
)

// open opens a client.
func (s settings) open(ctx context.Context) (*locks.Client, error) {
	opts := append(s.acls.client(), locks.WithSessionTimeout(s.timeout))
	for _, c := range s.credentials {
		opts = append(opts, locks.WithAuth(c[0], []byte(c[1])))
	}
	if s.sasl != nil {
		opts = append(opts, locks.WithSASL(s.sasl))
	}
	if s.tls != nil {
		opts = append(opts, locks.WithTLS(s.tls))
	}
	return locks.Open(ctx, s.servers, opts...)
}

// open connects, within the time that there is for it.
func (c *connection) open(ctx context.Context, cmd *cobra.Command) (*locks.Client, error) {
	s, err := c.settings(cmd)
	if err != nil {
		return nil, err
	}
	within, cancel := context.WithTimeout(ctx, c.connectTimeout)
	defer cancel()
	client, err := s.open(within)
	over, isOver := overIn(ctx, nil)
	switch {
	case err == nil:
		return client, nil
	case isOver:
		return nil, exitWith(statusUnreachable, "no connection within %v: %s; zklock doctor tells more", over.after,
			short(err))
	case ctx.Err() != nil:
		return nil, context.Cause(ctx)
	case errors.Is(err, zkconn.ErrAuthFailed):
		return nil, exitWith(statusRefused, "the servers refuse the credential: %s", short(err))
	case within.Err() != nil:
		return nil, exitWith(statusUnreachable, "no connection within %v: %s; zklock doctor tells more",
			c.connectTimeout, short(err))
	}
	return nil, err
}

// short is an error in one line, without what every error says.
func short(err error) string {
	text := strings.ReplaceAll(err.Error(), "turnstile: ", "")
	text = strings.ReplaceAll(text, ": context deadline exceeded", "") // zklock's own bound: the text behind it says why
	text = strings.ReplaceAll(text, "context deadline exceeded", "")
	text = strings.ReplaceAll(text, ": context canceled", "")
	return strings.Trim(strings.ReplaceAll(text, "\n", ": "), ": ")
}

// asking opens a client for a question, asks it, and closes the client. A signal ends it.
func (c *connection) asking(cmd *cobra.Command, ask func(ctx context.Context, client *locks.Client) error) error {
	ctx, stop := untilSignal(cmd.Context())
	defer stop()
	client, err := c.open(ctx, cmd)
	if err != nil {
		return err
	}
	defer closeClient(client, false)
	err = ask(ctx, client)
	if ctx.Err() != nil {
		return context.Cause(ctx)
	}
	return err
}

// answer calls question, whose answer should come within a minute.
func answer[A any](ctx context.Context, question func(context.Context) (A, error)) (A, error) {
	within, cancel := context.WithTimeoutCause(ctx, answerTimeout, fmt.Errorf("no answer within %v", answerTimeout))
	defer cancel()
	return question(within)
}

// closeClient ends the session, so that nothing is left to time out. A server that does not answer is not waited for
// longer than five seconds, and one second where it was found not to.
func closeClient(client *locks.Client, silent bool) {
	patience := 5 * time.Second
	if silent {
		patience = time.Second
	}
	ctx, cancel := context.WithCancel(context.Background()) // with a deadline Close would go on until then
	defer time.AfterFunc(patience, cancel).Stop()
	_ = client.Close(ctx)
}

// answerTimeout bounds the time of a question, which may have to read a large tree.
const answerTimeout = time.Minute

// find looks whether a path exists, before anything is said of the locks there: a path or a chroot
// that was mistyped has neither holders nor waiters. It is the first question of a command, so it
// finds out whether the servers answer at all, in the time that connecting has. Where the path does
// not exist, the error says so, with its status.
func (c *connection) find(ctx context.Context, cmd *cobra.Command, client *locks.Client, path string) error {
	within, lift := limited(ctx, c.connectTimeout)
	defer lift()
	missing, err := client.Missing(within, path)
	if over, isOver := overIn(within, err); isOver {
		return exitWith(statusUnreachable, "%s: the servers did not answer within %v; zklock doctor tells more", path,
			over.after)
	}
	if err != nil || missing == "" {
		return err
	}
	s, err := c.settings(cmd)
	if err != nil {
		return err
	}
	cfg, err := s.config()
	if err != nil {
		return err
	}
	return exitWith(statusMissing, "%s", absence(cfg, path, missing))
}

// absence says that a path does not exist, and what may be the reason.
func absence(cfg zkconn.Config, path, missing string) string {
	switch {
	case missing == "/" && path == "/":
		return fmt.Sprintf("the chroot %s does not exist at these servers", cfg.Chroot())
	case missing == "/":
		return fmt.Sprintf("%s does not exist, because the chroot %s does not exist at these servers", path, cfg.Chroot())
	case missing == path:
		return fmt.Sprintf("%s does not exist: nobody has locked it, or nobody for a while", path)
	}
	return fmt.Sprintf("%s does not exist, and neither does %s", path, missing)
}

// isMissing reports whether an error says that a path does not exist.
func isMissing(err error) bool {
	var e *exit
	return errors.As(err, &e) && e.status == statusMissing
}

// whenMissing gives the error of a path that does not exist, behind an empty answer where JSON is read.
func whenMissing(err error, asJSON bool, empty any) error {
	if asJSON && isMissing(err) {
		if failed := printJSON(empty, false); failed != nil {
			return failed
		}
	}
	return err
}

// noteMissing says that a path does not exist, and goes on: a command that follows events there
// waits for the path.
func noteMissing(err error) error {
	if isMissing(err) {
		err = say(os.Stderr, "zklock: %v", err)
	}
	return err
}
