package access

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/turnstile-locks/turnstile/tests/rig"
	"github.com/turnstile-locks/turnstile/tests/rig/pinned"
	"github.com/turnstile-locks/turnstile/tests/scene"
	"github.com/turnstile-locks/turnstile/zkconn/embedded"
)

// program is another client that talks in lines.
type program struct{ *rig.Talker }

// begin runs a command that says what it does.
func begin(t *testing.T, env []string, name string, args ...string) program {
	t.Helper()
	cmd := exec.Command(name, args...)
	cmd.Env = append(os.Environ(), env...)
	cmd.Stderr = t.Output()
	p, err := rig.Talk(cmd)
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, p.Kill()) })
	return program{p}
}

// says waits for a line.
func (p program) says(t *testing.T, line string) {
	t.Helper()
	end := scene.Deadline(t).Done()
	for {
		select {
		case got, open := <-p.Says:
			require.True(t, open, "it ended before it said %q", line)
			if got == line {
				return
			}
		case <-end:
			require.FailNow(t, "it never said "+line)
		}
	}
}

// kazoo and Turnstile, both alice, take turns on a path that is alice's alone.
func TestRealKazooBeside(t *testing.T) {
	python, err := pinned.Python()
	rig.SkipUnless(t, err)
	tellSASL(t, []story{{"take turns", func(t *testing.T, at *place) {
		client := at.mine(t, at.Connect())
		scene.GiveBack(t, scene.LockAt(t, client, "/shared")) // so that the chroot is there
		env := []string{"USER=alice", "PASSWORD=" + passwords[alice]}
		kazoo := begin(t, env, python, "-E", "-s", "-B", "locker.py", at.Hosts(), at.Root()+"/shared")
		kazoo.says(t, "held")
		second := scene.Queue(t, client, "/shared")
		require.NoError(t, kazoo.Tell(""))
		lease := second.Granted(t)

		other := begin(t, env, python, "-E", "-s", "-B", "locker.py", at.Hosts(), at.Root()+"/shared")
		other.says(t, "connected")
		scene.Eventually(t, func() bool { return len(scene.QueueOf(t, client, "/shared")) == 2 }, "kazoo never queued")
		require.True(t, lease.Valid())
		scene.GiveBack(t, lease)
		other.says(t, "held")
	}}})
}

// ZooKeeper's own client reads the access list that the servers made of CreatorACL, and may only as alice.
func TestRealJavaBeside(t *testing.T) {
	rig.Require(t)
	home := embedded.Run(t, embedded.WithSASL(passwords)).Addr() // where the shells are before the first story
	hers, his := newShell(t, home, alice), newShell(t, home, bob)
	tellSASL(t, []story{{"reads the list", func(t *testing.T, at *place) {
		lease := scene.LockAt(t, at.mine(t, at.Connect()), "/mine")
		require.Contains(t, hers.run(t, at, "getAcl "+at.Root()+"/mine"), "'sasl,'alice\n: cdrwa")
		text := his.run(t, at, "getAcl "+at.Root()+"/mine", "getAcl /")
		require.NotContains(t, text, "'sasl")
		require.Contains(t, text, "'world,'anyone", "the shell is connected as bob")
		require.True(t, lease.Valid())
		scene.GiveBack(t, lease)
	}}})
}

// shell is ZooKeeper's shell as one user. It serves the stories of all kinds of server, because starting a JVM for each
// costs more than the rest of the story.
type shell struct{ program }

// newShell starts a shell, which ends with the test.
func newShell(t *testing.T, server, user string) shell {
	t.Helper()
	jaas := filepath.Join(t.TempDir(), "jaas.conf")
	password := strings.NewReplacer(`\`, `\\`, `"`, `\"`).Replace(passwords[user])
	text := "Client {\n  org.apache.zookeeper.server.auth.DigestLoginModule required\n" +
		"  username=\"" + user + "\" password=\"" + password + "\";\n};\n"
	require.NoError(t, os.WriteFile(jaas, []byte(text), 0o600))
	classPath, err := rig.ClassPath()
	require.NoError(t, err)
	return shell{begin(t, nil, "java", "-Xmx64m", "-XX:+UseSerialGC", "-XX:TieredStopAtLevel=1",
		"-Dzookeeper.fips-mode=false", // since 3.9 its client refuses DIGEST-MD5 in that mode, which is the default
		"-Djava.security.auth.login.config="+jaas, "-Dorg.slf4j.simpleLogger.defaultLogLevel=warn",
		"-cp", classPath,
		"org.apache.zookeeper.ZooKeeperMain", "-server", server)}
}

// run connects to a place, runs commands there and returns what the shell printed meanwhile.
func (s shell) run(t *testing.T, at *place, commands ...string) (printed string) {
	t.Helper()
	const last = "printwatches is on" // the answer to the last command, which changes nothing
	require.NoError(t, s.Tell("connect "+at.Members[0].Addr()+"\n"+strings.Join(commands, "\n")+"\nprintwatches"))
	for end := scene.Deadline(t).Done(); ; {
		select {
		case line, open := <-s.Says:
			require.True(t, open, "it ended: %q", printed)
			if line == last {
				return printed
			}
			printed += line + "\n"
		case <-end:
			require.FailNow(t, "it never answered", "%q", printed)
		}
	}
}
