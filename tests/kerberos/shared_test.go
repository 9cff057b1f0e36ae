package kerberos

import (
	"fmt"
	"sync/atomic"
	"testing"

	"github.com/turnstile-locks/turnstile/tests/rig"
	"github.com/turnstile-locks/turnstile/tests/rig/kdc"
)

// demandingServer has the options of demanding. It is for tests that do not restart it, change its key or assert on its
// whole log. It logs in at a KDC of its own, so a test may stop or change the KDC of its own realm.
var demandingServer = rig.Shared{Start: startDemanding}

// serversKDC is the KDC at which demandingServer logs in; nil before that server was started.
var serversKDC *kdc.KDC

func startDemanding(t testing.TB) (server *rig.Server, err error) {
	t.Helper()
	kdc.Require(t)
	k, err := kdc.New(kdc.Realm)
	if err != nil {
		return nil, err
	}
	defer func() { // also where k ends the test
		if server == nil {
			_ = k.Stop()
		}
	}()
	// A key of every type that a test's KDC may use for the servers.
	k.AddWith(t, servers, "-pw", serversPassword, "-e", "aes256-cts-hmac-sha1-96:normal,aes128-cts-hmac-sha1-96:normal,"+
		"aes256-cts-hmac-sha384-192:normal,aes128-cts-hmac-sha256-128:normal")
	// Servers delete empty containers once a minute, and lock nodes below a new one start at number 0 again: in the gap
	// between two clients' turns, a contest would take that for a step backwards.
	never := rig.WithSystemProperty("znode.container.checkIntervalMs", "86400000") // 1 day
	if server, err = rig.NewStandalone(append(demanding(t, k), never)...); err == nil {
		serversKDC = k
	}
	return server, err
}

func stopServersKDC() error {
	if serversKDC == nil {
		return nil
	}
	return serversKDC.Stop()
}

var paths atomic.Int64

// fresh gives a path that no other test locks, on a server that they share.
func fresh(path string) string { return fmt.Sprintf("%s-%d", path, paths.Add(1)) }
