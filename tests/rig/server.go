package rig

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
	"testing"
	"time"
)

const (
	startTimeout  = 60 * time.Second
	startAttempts = 5
	pollInterval  = 10 * time.Millisecond
	// questionTimeout bounds one question to a server that may be stuck, where
	// the asker will ask again anyway.
	questionTimeout = 2 * time.Second
	firstQuestion   = 50 * time.Millisecond
)

// errPortTaken means that the server ended because somebody else has its port.
var errPortTaken = errors.New("port is taken")

// Server is a ZooKeeper server in a process of its own, alone or a member of an
// [Ensemble]. Its methods may be called from several goroutines.
type Server struct {
	dir      string
	port     int
	settings settings
	// securePort is the port with TLS; 0 without TLS.
	securePort int
	quorum     []string // the server.N lines; empty when standalone
	output     Tail
	linePause  atomic.Int64 // what a line of the log takes at least, in nanoseconds; see SlowLog

	mu      sync.Mutex // guards what follows, and orders starts and stops
	process *Process
	paused  bool
	gone    bool // Stop was called: the data is no more
}

// StartStandalone starts a server, waits until it serves, and stops it when the
// test ends. It calls [Require].
func StartStandalone(t testing.TB, opts ...Option) *Server {
	t.Helper()
	Require(t)
	server, err := NewStandalone(opts...)
	if err != nil {
		t.Fatal(err)
	}
	stopAtEnd(t, server.Stop, server)
	return server
}

// NewStandalone starts a server and waits until it serves. The caller stops it.
func NewStandalone(opts ...Option) (*Server, error) {
	prepare := func() (*Server, error) { return newServer(1, newSettings(opts)) }
	return launch(prepare, (*Server).serve)
}

// serve starts the server and waits until it serves.
func (s *Server) serve(ctx context.Context) error {
	if err := s.start(); err != nil {
		return err
	}
	return s.awaitServing(ctx)
}

// newServer prepares a server's folder and client port. It does not run yet.
func newServer(id int, settings settings) (*Server, error) {
	port, err := TakePort()
	if err != nil {
		return nil, err
	}
	dir, err := os.MkdirTemp("", "turnstile-rig-")
	if err != nil {
		return nil, fmt.Errorf("rig: folder for a server: %w", err)
	}
	s := &Server{dir: dir, port: port, settings: settings}
	s.SlowLog(settings.logLines)
	if err := errors.Join(s.prepareTLS(), s.prepareJAAS()); err != nil {
		return nil, errors.Join(err, s.Stop())
	}
	if err := os.WriteFile(filepath.Join(dir, "myid"), []byte(strconv.Itoa(id)), 0o600); err != nil {
		return nil, fmt.Errorf("rig: myid: %w", errors.Join(err, s.Stop()))
	}
	return s, nil
}

// start runs the process. It does not wait until the server serves.
func (s *Server) start() error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.gone {
		return errors.New("rig: server was stopped for good")
	}
	if s.process != nil && s.process.Running() {
		return errors.New("rig: server is running already")
	}
	classPath, err := ClassPath()
	if err != nil {
		return err
	}
	config := filepath.Join(s.dir, "zoo.cfg")
	if err := os.WriteFile(config, []byte(s.configuration()), 0o600); err != nil {
		return fmt.Errorf("rig: configuration: %w", err)
	}
	// A small heap, the simplest collector and only the quick compiler: starts
	// fastest and leaves the processors to the tests.
	args := []string{fmt.Sprintf("-Xmx%dm", s.settings.heap), "-XX:+UseSerialGC", "-XX:TieredStopAtLevel=1", "-XX:-UsePerfData"}
	args = append(args, archiveFlags()...)
	args = append(args, s.settings.flags()...)
	args = append(args, s.jaasFlags()...)
	args = append(args, "-cp", classPath, "org.apache.zookeeper.server.quorum.QuorumPeerMain", config)
	cmd := exec.Command("java", args...)
	cmd.Dir, cmd.Stdout = s.dir, s.log()
	cmd.Stderr = cmd.Stdout
	process, err := StartProcess(cmd, nil)
	if err != nil {
		return fmt.Errorf("rig: %w", err)
	}
	s.process, s.paused = process, false
	return nil
}

func (s *Server) configuration() string {
	lines := append(s.settings.lines(),
		"dataDir="+s.dir,
		"clientPortAddress=127.0.0.1",
		"clientPort="+strconv.Itoa(s.port))
	lines = append(lines, s.secureLines()...)
	return strings.Join(append(lines, s.quorum...), "\n") + "\n"
}

// awaitServing returns once the server answers as one that serves, or as soon
// as it has ended.
func (s *Server) awaitServing(ctx context.Context) error {
	s.mu.Lock()
	process := s.process
	s.mu.Unlock()
	// A server that is only just starting may take a question and never answer
	// it. So the first ones are given up soon, and later ones not, lest a machine
	// under load never answers in time.
	patience := firstQuestion
	for {
		question, cancel := context.WithTimeout(ctx, patience)
		_, err := s.Address().Mode(question)
		if question.Err() != nil {
			patience = min(2*patience, questionTimeout)
		}
		cancel()
		// A stranger on our port may answer while our process is dying of it.
		if err == nil && process.Running() {
			return s.awaitSecure(ctx)
		}
		select {
		case <-process.Exited():
			if strings.Contains(s.Log(), "Address already in use") {
				return fmt.Errorf("rig: server %s: %w", s.Addr(), errPortTaken)
			}
			return fmt.Errorf("rig: server %s ended while starting: %w\n%s", s.Addr(), process.Err(), s.Log())
		case <-ctx.Done():
			threads := ""
			if errors.Is(ctx.Err(), context.DeadlineExceeded) {
				threads = s.Threads()
			}
			return fmt.Errorf("rig: server %s does not serve (%w): %w\n%s\n%s", s.Addr(), err, ctx.Err(), s.Log(), threads)
		case <-time.After(pollInterval):
		}
	}
}

// Addr is the address for clients: host and port.
func (s *Server) Addr() string { return loopback(s.port) }

// PID is the process's number, or 0 when it does not run.
func (s *Server) PID() int {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.process == nil || !s.process.Running() {
		return 0
	}
	return s.process.Pid()
}

// Log returns the end of the server's output, over all its runs.
func (s *Server) Log() string { return s.output.String() }

// Threads has the server print where its threads are (SIGQUIT), and gives the end of its output then; "" where
// it does not run. It takes a second.
func (s *Server) Threads() string {
	s.mu.Lock()
	process, paused := s.process, s.paused
	s.mu.Unlock()
	if process == nil || !process.Running() || paused {
		return ""
	}
	if err := syscall.Kill(process.Pid(), syscall.SIGQUIT); err != nil {
		return err.Error()
	}
	time.Sleep(time.Second)
	log := s.Log()
	if at := strings.LastIndex(log, "Full thread dump"); at >= 0 {
		return log[at:]
	}
	return ""
}

// Kill ends the process with SIGKILL and waits until it is gone. The data stays
// for Restart. Killing a server that does not run is fine.
func (s *Server) Kill() error {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.kill()
}

func (s *Server) kill() error {
	s.paused = false
	if s.process == nil {
		return nil
	}
	if err := s.process.Kill(); err != nil {
		return fmt.Errorf("rig: %w", err)
	}
	return nil
}

// Pause freezes the process (SIGSTOP). When it returns, no thread of it runs:
// connections stay open, new ones are accepted by the kernel, nothing answers.
func (s *Server) Pause() error { return s.signal((*Process).Pause, true) }

// Resume lets a paused process go on (SIGCONT).
func (s *Server) Resume() error { return s.signal((*Process).Resume, false) }

func (s *Server) signal(send func(*Process) error, paused bool) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.process == nil {
		return errors.New("rig: server does not run")
	}
	if err := send(s.process); err != nil {
		return fmt.Errorf("rig: %w", err)
	}
	s.paused = paused
	return nil
}

// Restart starts the server again with its data on its port, killing it first
// if it runs, and waits until it serves. A member of an ensemble serves only
// once there is a quorum: to bring several back, restart them at the same time.
func (s *Server) Restart(ctx context.Context) error {
	if err := s.Kill(); err != nil {
		return err
	}
	return s.serve(ctx)
}

// Stop ends the process and removes its data, for good. It may be called again.
func (s *Server) Stop() error {
	if s == nil {
		return nil // it was never prepared
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.gone {
		return nil
	}
	if err := s.kill(); err != nil {
		return err
	}
	s.gone = true
	ReleasePort(s.port, s.securePort)
	if err := os.RemoveAll(s.dir); err != nil {
		return fmt.Errorf("rig: data of a server: %w", err)
	}
	return nil
}

// answers reports whether it is worth asking the server anything.
func (s *Server) answers() bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.process != nil && s.process.Running() && !s.paused
}
