package kdc

import (
	"fmt"
	"os"
	"strings"
	"testing"

	"github.com/turnstile-locks/turnstile/tests/rig"
)

// The programs, where Debian puts them: sbin is not in everybody's PATH.
const (
	serverProgram = "/usr/sbin/krb5kdc"
	adminProgram  = "/usr/sbin/kadmin.local"
	createProgram = "/usr/sbin/kdb5_util"
	loginProgram  = "/usr/bin/kinit"
	ticketProgram = "/usr/bin/kvno"
)

// Available returns nil when the programs are installed, and otherwise an error that says what to install.
func Available() error {
	var missing []string
	for _, program := range []string{serverProgram, adminProgram, createProgram, loginProgram, ticketProgram} {
		if _, err := os.Stat(program); err != nil {
			missing = append(missing, program)
		}
	}
	if len(missing) == 0 {
		return nil
	}
	const packages = "krb5-kdc krb5-admin-server krb5-user"
	return fmt.Errorf("kdc: missing %s; on Debian: apt-get install --no-install-recommends %s", strings.Join(missing, ", "), packages)
}

// Require skips the test when a KDC cannot be started, or fails it when TURNSTILE_REQUIRE_SERVERS=1.
func Require(t testing.TB) {
	t.Helper()
	rig.SkipUnless(t, Available())
}
