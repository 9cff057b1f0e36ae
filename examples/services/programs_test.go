package services_test

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"net"
	"net/http"
	"os"
	"os/exec"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"go.uber.org/goleak"

	"github.com/turnstile-locks/turnstile/examples/services"
	"github.com/turnstile-locks/turnstile/locks"
	"github.com/turnstile-locks/turnstile/tests/rig"
	"github.com/turnstile-locks/turnstile/tests/scene"
)

// The environment of a program of its own: its name, the servers, and the instant of its job.
const (
	programVariable = "TURNSTILE_SERVICES_PROGRAM"
	serversVariable = "TURNSTILE_SERVICES_SERVERS"
	instantVariable = "TURNSTILE_SERVICES_INSTANT"
)

// TestMain runs the tests, or is the handler or the cron worker as a program of its own.
func TestMain(m *testing.M) {
	name := os.Getenv(programVariable)
	main, known := map[string]func(servers string) error{"pay": payProgram, "cron": cronProgram}[name]
	if !known {
		goleak.VerifyTestMain(m)
		return
	}
	if err := main(os.Getenv(serversVariable)); err != nil {
		fmt.Println("failed", err)
		os.Exit(1)
	}
	os.Exit(0)
}

// payProgram serves payments until it is killed. That of the order "slow" lasts until its ctx ends.
func payProgram(servers string) error {
	ctx, cancel := context.WithTimeout(context.Background(), scene.Bound)
	defer cancel()
	client, err := locks.Open(ctx, servers, locks.WithSessionTimeout(shortSession))
	if err != nil {
		return err
	}
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return err
	}
	fmt.Println("serves", listener.Addr())
	return http.Serve(listener, services.Pay(client, func(ctx context.Context, id string, _ int64) error {
		if id == "slow" {
			fmt.Println("begun")
			<-ctx.Done()
		}
		return ctx.Err()
	}))
}

// cronProgram runs the job of one instant, which lasts until its lease is lost, and says how that ended.
func cronProgram(servers string) error {
	at, err := time.Parse(time.RFC3339Nano, os.Getenv(instantVariable))
	if err != nil {
		return err
	}
	ctx, cancel := context.WithTimeout(context.Background(), scene.Bound)
	defer cancel()
	ran, err := services.Cron(ctx, servers, at, func(ctx context.Context) error {
		fmt.Println("begun")
		<-ctx.Done()
		fmt.Println("interrupted")
		return ctx.Err()
	})
	fmt.Println("ended", cronEnd{ran, errors.Is(err, locks.ErrLost), errors.Is(err, context.Canceled), locks.MayPass(err)})
	return nil
}

// cronEnd is how a cron worker ended.
type cronEnd struct{ ran, lost, cancelled, mayPass bool }

func (e cronEnd) String() string {
	return fmt.Sprintf("ran=%v lost=%v cancelled=%v mayPass=%v", e.ran, e.lost, e.cancelled, e.mayPass)
}

// program is one of them that runs.
type program struct{ lines chan string }

// startProgram starts one, which is killed when the test ends.
func startProgram(t *testing.T, name, servers string, at time.Time) *program {
	t.Helper()
	cmd := exec.Command(os.Args[0], "-test.run=^$")
	cmd.Env = append(os.Environ(), programVariable+"="+name, serversVariable+"="+servers,
		instantVariable+"="+at.Format(time.RFC3339Nano))
	cmd.Stderr = scene.ErrorOutput(t, os.Stderr)
	from, to, err := os.Pipe()
	require.NoError(t, err)
	cmd.Stdout = to
	p := &program{lines: make(chan string, 100)}
	process, err := rig.StartProcess(cmd, nil)
	require.NoError(t, err)
	require.NoError(t, to.Close())
	go func() {
		defer close(p.lines)
		for lines := bufio.NewScanner(from); lines.Scan(); {
			p.lines <- lines.Text()
		}
	}()
	scene.Cleanup(t, func() {
		_ = process.Kill() // it may have ended
		<-process.Exited()
		for range p.lines { // until its output ends
		}
		_ = from.Close()
	})
	return p
}

// says waits for a line that begins so, and gives the rest of it. Other lines are passed over.
func (p *program) says(t *testing.T, begins ...string) (which, rest string) {
	t.Helper()
	late := time.After(scene.Bound)
	for {
		select {
		case line, more := <-p.lines:
			require.True(t, more, "the program has ended without %q", begins)
			for _, which := range begins {
				if rest, is := strings.CutPrefix(line, which); is {
					return which, strings.TrimSpace(rest)
				}
			}
		case <-late:
			require.Failf(t, "it does not say so", "%q", begins)
		}
	}
}
