package kdc

import (
	"context"
	"errors"
	"fmt"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"testing"
	"time"

	"github.com/turnstile-locks/turnstile/tests/rig"
)

const (
	// Realm is the realm of every KDC of [Start].
	Realm = "TURNSTILE.TEST"

	startTimeout  = 60 * time.Second
	startAttempts = 5
	pollInterval  = 10 * time.Millisecond
)

// KDC is a KDC in a process of its own. Its methods are for one goroutine.
type KDC struct {
	dir     string
	port    int
	realm   string
	output  rig.Tail
	process *rig.Process
	files   int // that were made for clients
}

// Start starts a KDC with an empty database, and stops it when the test ends. It calls [Require].
func Start(t testing.TB) *KDC {
	t.Helper()
	return StartRealm(t, Realm)
}

// StartRealm is Start with a realm of another name.
func StartRealm(t testing.TB, realm string) *KDC {
	t.Helper()
	Require(t)
	k, err := New(realm)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if t.Failed() {
			t.Logf("log of the KDC:\n%s%s", k.Log(), k.output.String())
		}
		if err := k.Stop(); err != nil {
			t.Error(err)
		}
	})
	return k
}

// New starts a KDC with an empty database. The caller stops it.
func New(realm string) (*KDC, error) {
	ctx, cancel := context.WithTimeout(context.Background(), startTimeout)
	defer cancel()
	for attempt := 1; ; attempt++ {
		k, err := prepare(realm)
		if err == nil {
			err = k.serve(ctx)
		}
		if err == nil {
			return k, nil
		}
		err = errors.Join(err, k.Stop())
		if attempt == startAttempts || ctx.Err() != nil {
			return nil, err
		}
	}
}

// prepare makes the configuration and an empty database. The KDC is to be stopped even when there is an error.
func prepare(realm string) (*KDC, error) {
	k := &KDC{realm: realm}
	var err error
	if k.dir, err = os.MkdirTemp("", "turnstile-kdc-"); err != nil {
		return k, fmt.Errorf("kdc: %w", err)
	}
	if k.port, err = rig.TakePort(); err != nil {
		return k, err
	}
	for name, text := range map[string]string{"kdc.conf": k.serverConfig(), "krb5.conf": k.clientConfig(nil)} {
		if err := os.WriteFile(k.path(name), []byte(text), 0o600); err != nil {
			return k, fmt.Errorf("kdc: %w", err)
		}
	}
	return k, k.run(createProgram, "-r", realm, "create", "-s", "-P", "only for tests")
}

func (k *KDC) path(name string) string { return filepath.Join(k.dir, name) }

func (k *KDC) address() string { return net.JoinHostPort("127.0.0.1", strconv.Itoa(k.port)) }

// command is one of the programs, which sees our files alone.
func (k *KDC) command(program string, args ...string) *exec.Cmd {
	cmd := exec.Command(program, args...)
	cmd.Dir = k.dir
	cmd.Env = []string{
		"KRB5_CONFIG=" + k.path("krb5.conf"), "KRB5_KDC_PROFILE=" + k.path("kdc.conf"),
		"KRB5CCNAME=FILE:" + k.path("nobody"), "KRB5RCACHEDIR=" + k.dir, "TMPDIR=" + k.dir, "LC_ALL=C", "TZ=UTC",
	}
	return cmd
}

func (k *KDC) run(program string, args ...string) error {
	if output, err := k.command(program, args...).CombinedOutput(); err != nil {
		return fmt.Errorf("kdc: %s %q: %w: %s", program, args, err, output)
	}
	return nil
}

// serve starts the process and waits until it answers.
func (k *KDC) serve(ctx context.Context) error {
	cmd := k.command(serverProgram, "-n", "-r", k.realm, "-P", k.path("pid"))
	cmd.Stdout, cmd.Stderr = &k.output, &k.output
	process, err := rig.StartProcess(cmd, nil)
	if err != nil {
		return fmt.Errorf("kdc: %w", err)
	}
	k.process = process
	for {
		conn, err := new(net.Dialer).DialContext(ctx, "tcp", k.address())
		if err == nil {
			_ = conn.Close()
			if process.Running() {
				return nil
			}
		}
		select {
		case <-process.Exited():
			return fmt.Errorf("kdc: it ended while starting: %w: %s", process.Err(), k.output.String())
		case <-ctx.Done():
			return fmt.Errorf("kdc: it does not serve (%w): %w: %s", err, ctx.Err(), k.output.String())
		case <-time.After(pollInterval):
		}
	}
}

// Kill ends the process. The database stays for Restart.
func (k *KDC) Kill(t testing.TB) {
	t.Helper()
	if err := k.process.Kill(); err != nil {
		t.Fatal(err)
	}
}

// Restart starts the process again on its port.
func (k *KDC) Restart(t testing.TB) {
	t.Helper()
	k.Kill(t)
	ctx, cancel := context.WithTimeout(context.Background(), startTimeout)
	defer cancel()
	if err := k.serve(ctx); err != nil {
		t.Fatal(err)
	}
}

// Pause has the KDC take requests and answer none, until Resume.
func (k *KDC) Pause(t testing.TB) {
	t.Helper()
	if err := k.process.Pause(); err != nil {
		t.Fatal(err)
	}
}

// Resume lets a paused KDC go on.
func (k *KDC) Resume(t testing.TB) {
	t.Helper()
	if err := k.process.Resume(); err != nil {
		t.Fatal(err)
	}
}

// Stop ends the process and removes all files, for good. It may be called again.
func (k *KDC) Stop() error {
	if k.process != nil {
		if err := k.process.Kill(); err != nil {
			return err
		}
	}
	if k.port != 0 {
		rig.ReleasePort(k.port)
		k.port = 0
	}
	if k.dir == "" {
		return nil
	}
	return os.RemoveAll(k.dir)
}
