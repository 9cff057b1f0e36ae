package zklock

import (
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/stretchr/testify/require"
)

// TestBadUse: for each command one sentence, which says what is wrong and what to type; nothing is sent, for nobody
// listens there.
func TestBadUse(t *testing.T) {
	t.Parallel()
	empty := filepath.Join(t.TempDir(), "empty")
	require.NoError(t, os.WriteFile(empty, nil, 0o600))
	nowhere := place{addr: "127.0.0.1:1"}
	for _, c := range []struct{ args, wrong, typed string }{
		{"", "no command is given", "zklock help"},
		{"frobnicate", `there is no command "frobnicate"`, "zklock help"},
		{"qeue", `there is no command "qeue"; did you mean queue?`, "zklock queue"},
		{"unlock /x", `there is no command "unlock"; did you mean revoke?`, "zklock revoke"},
		{"flock -n /x true", "unknown shorthand flag", "zklock help"},
		{"list", `there is no command "list"; did you mean tree?`, "zklock tree"},
		{"help list", `there is no command "list"; did you mean tree?`, "zklock help tree"},
		{"help gra", `there is no command "gra"; did you mean graph?`, "zklock help graph"},
		{"tr", `there is no command "tr"; did you mean one of `, "zklock tr"},
		{"hold", "PATH is missing", "zklock hold PATH"},
		{"hold /x /y", `"/y" is one argument too many`, "zklock hold PATH"},
		{"hold x", "must be absolute", "zklock hold PATH"},
		{"hold --shared --permits 2 /x", "hold: --shared and --permits are different", "zklock hold --shared PATH"},
		{"hold -n -w 3 /x", "--wait, -n and -w all say how long to wait", "zklock hold --wait 30s PATH"},
		{"run --wait 3s -w 3 /x -- true", "one will do", "zklock run --wait 30s PATH"},
		{"run -w soon /x -- true", "no number of seconds", "zklock help run"},
		{"run -w -1 /x -- true", "not between 0 and", "zklock help run"},
		{"permits", "PATH is missing", "zklock permits PATH"},
		{"permits /x 1 2", `"2" is one argument too many`, "zklock permits PATH"},
		{"permits /x many", `N is "many"`, "zklock permits PATH N"},
		{"permits /x 0", "must be between 1 and", "zklock permits PATH N"},
		{"doctor --root x", "must be absolute", "zklock doctor --root /ROOT"},
		{"queue --acl world:anyone /x", "not of the form SCHEME:ID:PERMISSIONS", "zklock queue --acl world:anyone:r"},
		{"queue --parent-acl world:anyone:rx /x", "--parent-acl is not of the form", "zklock queue --parent-acl world:anyone:r"},
		{"queue --acl auth::cdrwa /x", "needs a credential", "zklock queue --zk"},
		{"--frob", "unknown flag: --frob", "zklock help"},
		{"help frobnicate", `there is no command "frobnicate"`, "zklock help"},
		{"completion", "SHELL is missing", "zklock completion bash"},
		{"completion tcsh", `there is none for "tcsh"`, "zklock completion bash"},

		{"run", "PATH is missing", "zklock run PATH -- COMMAND…"},
		{"run -- true", "PATH is missing before --", "zklock run PATH -- COMMAND…"},
		{"run /x", "COMMAND is missing", "zklock run PATH -- COMMAND…"},
		{"run /x --", "COMMAND is missing", "zklock run PATH -- COMMAND…"},
		{"run /x true", "-- is missing between PATH and COMMAND", "zklock run PATH -- COMMAND…"},
		{"run /x ls -l", "the command's own flags come after --", "zklock run PATH -- COMMAND…"},
		{"run /x /y -- true", `"/y" is one argument too many`, "zklock run PATH -- COMMAND…"},
		{"run x -- true", `bad path "x": must be absolute`, "zklock run PATH -- COMMAND…"},
		{"run / -- true", `must not be the root`, "zklock run PATH -- COMMAND…"},
		{"run --max-waiters 0 /x -- true", "--max-waiters 0 is less than one", "zklock run --max-waiters 2 PATH -- COMMAND…"},
		{"run -n --max-waiters 2 /x -- true", "for a run that waits", "zklock run --wait 30s --max-waiters 2 PATH -- COMMAND…"},
		{"run --at-most-every 1h --max-waiters 2 /x -- true", "for a run that waits",
			"zklock run --wait 30s --max-waiters 2 PATH -- COMMAND…"},
		{"run --shared --permits 2 /x -- true", "different kinds of locks", "zklock run --shared PATH -- COMMAND…"},
		{"run --permits 0 /x -- true", "--permits 0 is not between 1 and", "zklock run --permits 4 PATH -- COMMAND…"},
		{"run --permits many /x -- true", `invalid argument "many"`, "zklock help run"},
		{"run --wait 30 /x -- true", "--wait 30 has no unit (s, m, h)", "zklock run --wait 30s PATH -- COMMAND…"},
		{"completion bash x", `"x" is one argument too many`, "zklock completion bash"},
		{"--verbose", "unknown flag: --verbose", "zklock help"},
		{"run --wait -3s /x -- true", "--wait -3s is less than nothing", "zklock run --wait 30s PATH -- COMMAND…"},
		{"run --grace -1s /x -- true", "--grace -1s is less than nothing", "zklock run --grace 5s PATH -- COMMAND…"},
		{"run --max-hold 0s /x -- true", "--max-hold 0s is not above nothing", "zklock run --max-hold 1h PATH -- COMMAND…"},
		{"run --early /x -- true", "more than a tenth of the session timeout", "zklock run --early --grace 3s PATH -- COMMAND…"},
		{"run --at-most-every 0s /x -- true", "--at-most-every 0s is not above nothing",
			"zklock run --at-most-every 1h PATH -- COMMAND…"},
		{"run --at-most-every 1h --shared /x -- true", "a lock that one has alone", "zklock run PATH -- COMMAND…"},
		{"run --at-most-every 1h --permits 2 /x -- true", "a lock that one has alone", "zklock run PATH -- COMMAND…"},
		{"run --for tonight /x -- true", `--for "tonight" is no instant in RFC 3339`, "zklock run --for 2026-12-24T02:00Z PATH -- COMMAND…"},
		{"run --for 2026-12-24T02:00 /x -- true", "with its zone", "zklock run --for 2026-12-24T02:00Z PATH -- COMMAND…"},
		{"run --start-within 1h /x -- true", "--start-within is for a run with --for", "zklock run --for 2026-12-24T02:00Z PATH -- COMMAND…"},
		{"run --for 2026-12-24T02:00Z --at-most-every 1h /x -- true", "different ways to run a job",
			"zklock run --for 2026-12-24T02:00Z PATH -- COMMAND…"},
		{"run --for 2026-12-24T02:00Z --shared /x -- true", "a lock that one has alone", "zklock run --for 2026-12-24T02:00Z PATH -- COMMAND…"},
		{"run --label " + strings.Repeat("l", 1025) + " /x -- true", "label", "zklock run --label TEXT PATH -- COMMAND…"},

		{"queue", "PATH is missing", "zklock queue PATH"},
		{"queue x", `bad path "x"`, "zklock queue PATH"},
		{"queue /x /y", `"/y" is one argument too many`, "zklock queue PATH"},
		{"queue --watch /x", "--watch draws on a terminal", "zklock queue --watch --json PATH"},
		{"tree", "ROOT is missing", "zklock tree ROOT"},
		{"tree x", `bad path "x"`, "zklock tree ROOT"},
		{"tree --watch /", "--watch draws on a terminal", "zklock tree --watch --json ROOT"},
		{"trace", "PATH is missing", "zklock trace PATH"},
		{"trace /", "must not be the root", "zklock trace PATH"},
		{"graph", "ROOT is missing", "zklock graph ROOT"},
		{"graph --dot --json /", "two forms of one thing", "zklock graph --dot ROOT"},
		{"revoke", "PATH is missing", "zklock revoke PATH"},
		{"revoke /x//y", "must not contain an empty element", "zklock revoke PATH"},
		{"break", "PATH is missing", "zklock break PATH CONTENDER"},
		{"break /x", "CONTENDER is missing", "zklock break PATH CONTENDER"},
		{"break /x 1", "there is no terminal to ask at", "zklock break --yes PATH CONTENDER"},
		{"doctor /x", `"/x" is one argument too many`, "zklock doctor"},
		{"doctor --path x", `bad path "x"`, "zklock doctor --path /PATH"},

		{"queue --zk a,b/c// /x", "must not end with a slash", "zklock queue --zk HOST:2181,HOST:2181/CHROOT PATH"},
		{"queue --zk host:port /x", "port", "zklock queue --zk HOST:2181,HOST:2181/CHROOT PATH"},
		{"queue --session-timeout 1ms /x", "less than a second", "zklock queue --session-timeout 10s PATH"},
		{"queue --connect-timeout 0s /x", "not above zero", "zklock queue --connect-timeout 10s PATH"},
		{"queue --auth secret /x", "not of the form SCHEME:SECRET", "zklock queue --auth digest:USER:PASSWORD PATH"},
		{"queue -auth=digest:ann:secret /x", "queue: -auth has one dash", "zklock help queue"},
		{"queue --auth digest:ann /x", "not of the form", "zklock queue --auth digest:USER:PASSWORD PATH"},
		{"queue --sasl plain /x", "no SASL mechanism", "zklock queue --sasl digest-md5 --sasl-file FILE PATH"},
		{"queue --sasl digest-md5 /x", "ZKLOCK_SASL_PASSWORD", "zklock queue --sasl digest-md5 --sasl-file FILE PATH"},
		{"queue --sasl-file " + empty + " /x", "no mechanism", "zklock queue --sasl digest-md5 --sasl-file FILE PATH"},
		{"queue --tls-cert x /x", "go together", "zklock queue --tls-cert FILE --tls-key FILE PATH"},
		{"queue --tls-ca /no/such/file /x", "no such file", "zklock queue --tls-ca FILE PATH"},
		{"queue --tls-ca " + empty + " /x", "no certificate", "zklock queue --tls-ca FILE PATH"},
	} {
		stdout, stderr := says(t, nowhere, 64, c.args)
		require.Empty(t, stdout, c.args)
		require.Equal(t, 1, strings.Count(stderr, "\n"), "%s: %s", c.args, stderr)
		require.Contains(t, stderr, c.wrong, c.args)
		require.Contains(t, stderr, "; type: "+c.typed, c.args)
		require.NotContains(t, stderr, "secret", "what is given as a credential is not shown")
	}
}

// TestNoServers: there is no default, for a lock at the wrong servers excludes nobody.
func TestNoServers(t *testing.T) {
	t.Parallel()
	for _, name := range []string{"run /x -- true", "hold /x", "permits /x 1", "queue /x", "tree /", "trace /x", "graph /", "revoke /x", "break --yes /x 1", "doctor"} {
		cmd := command(place{}, name)
		cmd.Env = clean()
		p := launch(t, cmd)
		p.ends(t, 64)
		require.Contains(t, p.stderr(t), "no servers are named, neither by --zk nor by ZOOKEEPER_SERVERS; type: zklock "+strings.Fields(name)[0]+" --zk HOST:2181")
	}
}

// named has the commands that there is help for; "" is zklock itself.
var named = append([]string{""}, connecting...)

// TestHelp: there is some of everything, with examples, and it fits a terminal. What stands for a value says what kind
// of value it is.
func TestHelp(t *testing.T) {
	t.Parallel()
	kinds := strings.Fields("duration seconds file name path text N servers credential mechanism ACL instant")
	flag := regexp.MustCompile(`^ +(?:-\w, )?--([\w-]+)(?: (\S+))?(?:  .*)?$`)
	seen := 0
	for _, name := range named {
		stdout, stderr := says(t, place{}, 0, "help "+name)
		require.Empty(t, stderr)
		require.Contains(t, stdout, "Examples:", name)
		same, _ := says(t, place{}, 0, name+" --help")
		require.Equal(t, stdout, same)
		flags := false
		for line := range strings.SplitSeq(stdout, "\n") {
			require.LessOrEqual(t, utf8.RuneCountInString(line), 80, "%s: %s", name, line)
			flags = flags || line == "Flags:"
			m := flag.FindStringSubmatch(line)
			if !flags || m == nil {
				continue
			}
			seen++
			require.Contains(t, append(kinds, ""), m[2], "%s --%s", name, m[1])
			if strings.HasSuffix(m[1], "-timeout") || m[1] == "wait" || m[1] == "grace" || m[1] == "at-most-every" {
				require.Equal(t, "duration", m[2], "%s --%s", name, m[1])
			}
		}
	}
	require.Greater(t, seen, 40)
}

// TestCompletion: scripts for the shells, and what they ask.
func TestCompletion(t *testing.T) {
	t.Parallel()
	for line, shows := range map[string]string{
		"--version":       "zklock version ",
		"completion bash": "zklock", "completion zsh": "zklock", "completion fish": "zklock", "completion powershell": "zklock",
		"__complete run --sh": "--shared\t", "__complete hold --non": "--nonblock\t",
		"__complete %": "doctor\t", "__complete run /lock -- %": ":0\n", // files
		"__complete run %": ":4\n", "__complete permits %": ":4\n", // nothing: a lock path is no file
	} {
		var more []string
		if strings.Contains(line, "%") {
			more = []string{""}
		}
		stdout, _ := says(t, place{}, 0, line, more...)
		if strings.HasPrefix(shows, ":") {
			require.Equal(t, shows, stdout, line)
		}
		require.Contains(t, stdout, shows, line)
		if strings.HasPrefix(line, "__") {
			require.NotContains(t, stdout, "guard", "that one is for zklock itself")
		}
	}
}
