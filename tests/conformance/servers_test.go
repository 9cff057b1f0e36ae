package conformance

import (
	"errors"
	"fmt"
	"os"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/turnstile-locks/turnstile/tests/rig"
)

// pair is a server that is right by definition, and one that is to be like it.
type pair struct{ reference, subject server }

// shortest is the shortest session that the servers grant. It is long: no session may end because
// the machine is slow.
const shortest = 30 * time.Second

// longest is the longest.
const longest = 60 * time.Second

// never is for what a server does on its own, such as deleting empty containers: while operations are
// compared it must do nothing.
const never = "2000000000"

var shared struct {
	sync.Mutex
	pair    *pair
	servers []*rig.Server
}

// servers returns the pair that the tests share.
func servers(t *testing.T) pair {
	t.Helper()
	rig.Require(t)
	shared.Lock()
	defer shared.Unlock()
	if shared.pair == nil {
		shared.pair = &pair{reference: startReal(t), subject: startSubject(t)}
	}
	return *shared.pair
}

// startSubject starts the server that is to be like the reference.
func startSubject(t *testing.T) server { return startReal(t) }

func startReal(t *testing.T) server {
	t.Helper()
	s, err := rig.NewStandalone(
		rig.WithMinSessionTimeout(shortest),
		rig.WithSystemProperty("znode.container.checkIntervalMs", never),
		// A server writes pages about every odd request. Only what ends it is of interest.
		rig.WithSystemProperty("org.slf4j.simpleLogger.defaultLogLevel", "off"),
		rig.WithSystemProperty("org.slf4j.simpleLogger.log.org.apache.zookeeper.server.ZooKeeperCriticalThread", "error"),
	)
	if err != nil {
		t.Fatal(err)
	}
	shared.servers = append(shared.servers, s)
	return s
}

// TestMain stops what the tests share.
func TestMain(m *testing.M) {
	code := m.Run()
	for _, s := range shared.servers {
		if err := s.Stop(); err != nil {
			fmt.Fprintln(os.Stderr, err)
			code = 1
		}
	}
	os.Exit(code)
}

// runs numbers the sequences: no root is used twice.
var runs atomic.Int64

// differ carries out a sequence on both servers at the same time, and says where they differ.
func (p pair) differ(operations []operation) (*difference, transcript, error) {
	run := runs.Add(1)
	var transcripts [2]transcript
	var errs [2]error
	var wait sync.WaitGroup
	for i, s := range []server{p.reference, p.subject} {
		wait.Go(func() { transcripts[i], errs[i] = play(s.Addr(), run, operations) })
	}
	wait.Wait()
	if errs[0] != nil {
		errs[0] = fmt.Errorf("reference: %w", errs[0])
	}
	if errs[1] != nil {
		errs[1] = fmt.Errorf("subject: %w", errs[1])
	}
	if err := errors.Join(errs[:]...); err != nil {
		return nil, nil, err
	}
	return compare(transcripts[0], transcripts[1]), transcripts[0], nil
}
