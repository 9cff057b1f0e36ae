package zklock

import (
	"fmt"
	"net"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/go-zookeeper/zk"
	"github.com/stretchr/testify/require"

	"github.com/turnstile-locks/turnstile/tests/scene"
	"github.com/turnstile-locks/turnstile/zkconn/embedded"
)

// silent is a server that takes sessions and hears pings, and answers nothing that is asked of it.
func silent(t *testing.T) place {
	t.Helper()
	server := embedded.Run(t)
	_, err := server.Inject(embedded.Fault{Path: "/**", Action: embedded.DropReply, Count: -1})
	require.NoError(t, err)
	return place{addr: server.Addr()}
}

// mute is a server that takes connections, and never a session.
func mute(t *testing.T) place {
	t.Helper()
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	require.NoError(t, err)
	t.Cleanup(func() { listener.Close() })
	return place{addr: listener.Addr().String()}
}

// goesOn stands for a command that does not end by itself.
const goesOn = -1

// TestExitStatuses: what each command comes to where it cannot do its work, as the page has it.
func TestExitStatuses(t *testing.T) {
	t.Parallel()
	const missing = "does not exist"
	places := []struct {
		name  string
		at    func(*testing.T) place
		bound time.Duration // for the connection, and W of the command
	}{
		{"nobody listens", func(t *testing.T) place { return place{addr: scene.DeadAddress(t)} }, time.Second},
		{"no session", mute, time.Second},
		{"no answer", silent, 2 * time.Second},
		{"wrong path", func(t *testing.T) place { at := here(t); at.make(t); return at }, scene.Bound},
		{"wrong chroot", here, scene.Bound},
	}
	page := read(t, "../../examples/zklock/README.md")
	for _, row := range []struct {
		command string
		status  [5]int // one for each place
		says    string // of the wrong path
	}{
		{"run --wait W /x/y -- true", [5]int{69, 69, 69, 0, 0}, ""},
		{"run -n /x/y -- true", [5]int{69, 69, 69, 0, 0}, ""},
		{"run --at-most-every 1h /x/y -- true", [5]int{69, 69, 69, 0, 0}, ""},
		{"run --for 2025-12-24T02:00Z /x/y -- true", [5]int{69, 69, 69, 0, 0}, ""},
		{"hold --wait W /x/y", [5]int{69, 69, 69, 0, 0}, ""},
		{"permits /x/y 3", [5]int{69, 69, 69, 0, 0}, ""},
		{"permits /x", [5]int{69, 69, 69, 66, 66}, missing},
		{"queue /x/y", [5]int{69, 69, 69, 66, 66}, missing + ", and neither does /x"},
		{"queue --json /x", [5]int{69, 69, 69, 66, 66}, missing},
		{"tree /x", [5]int{69, 69, 69, 66, 66}, missing},
		{"tree /", [5]int{69, 69, 69, 0, 66}, ""},
		{"graph /x", [5]int{69, 69, 69, 66, 66}, missing},
		{"graph /", [5]int{69, 69, 69, 0, 66}, ""},
		{"revoke /x", [5]int{69, 69, 69, 1, 1}, missing},
		{"break --yes /x 1", [5]int{69, 69, 69, 1, 1}, missing},
		{"trace /x", [5]int{69, 69, 69, goesOn, goesOn}, missing},
		{"queue --watch --json /x", [5]int{69, 69, 69, goesOn, goesOn}, missing},
		{"tree --watch --json /x", [5]int{69, 69, 69, goesOn, goesOn}, missing},
		{"doctor", [5]int{69, 69, 1, 0, 1}, ""},
		{"doctor --root /x", [5]int{69, 69, 1, 1, 1}, "/x " + missing},
	} {
		line := "| `" + row.command + "` |"
		for _, status := range row.status {
			if status == goesOn {
				line += " goes on |"
			} else {
				line += fmt.Sprintf(" %d |", status)
			}
		}
		require.Contains(t, page, line+"\n")
		for i, where := range places {
			t.Run(strings.ReplaceAll(row.command, "/", ":")+", "+where.name, func(t *testing.T) {
				t.Parallel()
				at := where.at(t)
				bound := where.bound.String()
				args := strings.Fields(strings.ReplaceAll(row.command, "W", bound))
				connect := bound
				if strings.Contains(row.command, "W") { // it ends the connecting, too
					connect = scene.Bound.String()
				}
				says := ""
				switch {
				case row.status[i] == 69:
					says = "within " + bound
				case where.name == "no answer":
					says = "no answer within " + bound
				case where.name == "wrong path":
					says = row.says
				case row.status[i] != 0:
					says = "the chroot /test does not exist at these servers"
				}
				p := start(t, at, fmt.Sprintf("%s --session-timeout %v --connect-timeout %s %s", args[0], scene.Session, connect, strings.Join(args[1:], " ")))
				if args[0] == "hold" && row.status[i] == 0 {
					scene.Eventually(t, func() bool { return strings.Contains(p.stdout(t), "holds ") }, "never held")
				}
				if args[0] != "hold" || row.status[i] == 0 {
					p.letGo()
				}
				if row.status[i] == goesOn {
					scene.Eventually(t, func() bool { return strings.Contains(p.stderr(t), says) }, "it never says so")
					require.NoError(t, p.Kill())
				} else {
					p.ends(t, row.status[i])
				}
				require.Contains(t, p.stdout(t)+p.stderr(t), says)
				if where.name == "nobody listens" {
					require.Contains(t, p.stdout(t)+p.stderr(t), at.addr)
				}
				if where.name == "wrong chroot" && row.status[i] != 0 {
					exists, _, err := at.raw(t).Exists(at.chroot)
					require.NoError(t, err)
					require.False(t, exists, "who looks makes nothing")
				}
			})
		}
	}
}

// TestFollowingWhatDoesNotExist: a command that follows events at a path may come before its first
// lock. It says that the path does not exist, and then shows the lock, and who comes next.
func TestFollowingWhatDoesNotExist(t *testing.T) {
	t.Parallel()
	at := here(t)
	for command, shows := range map[string][2]string{
		"trace --json /f":         {`"what":"holds"`, `"what":"gone"`},
		"queue --watch --json /f": {`"holds":true`, `"holds":true[^{}]*"label":"next"`},
		"tree --watch --json /f":  {`"holders":1`, `"waiters":1`},
	} {
		p := start(t, at, command)
		scene.Eventually(t, func() bool { return strings.Contains(p.stderr(t), "does not exist") }, "%s never said so", command)
		shown := func(what string) {
			t.Helper()
			scene.Eventually(t, func() bool { return regexp.MustCompile(what).MatchString(p.stdout(t)) }, "%s never showed %s", command, what)
		}
		holder, _ := runs(t, at, "run /f -- sh -c", holding)
		shown(shows[0])
		next := start(t, at, "run --label next /f -- sh -c", holding)
		awaitQueue(t, at, "/f", 1, 1)
		if strings.HasPrefix(command, "tree") {
			shown(shows[1])
		}
		holder.leaves(t)
		shown(shows[1])
		next.leaves(t)
		require.NoError(t, p.Kill())
		require.NoError(t, at.raw(t).Delete(at.chroot+"/f", -1))
	}
}

// TestWaitBehindSomebody: the servers fall silent while a waiter is in the queue. Somebody was before it, so the lock was not free.
func TestWaitBehindSomebody(t *testing.T) {
	t.Parallel()
	server := embedded.Run(t)
	at := place{addr: server.Addr()}
	conn := at.raw(t)
	acl := zk.WorldACL(zk.PermAll)
	_, err := conn.Create("/w", nil, 0, acl)
	require.NoError(t, err)
	holder, err := conn.Create("/w/_c_a0000000000000000000000000000000-lock-", nil, zk.FlagEphemeral|zk.FlagSequence, acl)
	require.NoError(t, err)
	// A session that reads the holder's node has seen the queue.
	silence, err := server.Inject(embedded.Fault{Op: embedded.OpGetData, Path: holder, Action: embedded.HoldReplies})
	require.NoError(t, err)
	waiter := start(t, at, "run --wait 10s /w -- true")
	require.NoError(t, silence.Wait(scene.Deadline(t)))
	waiter.ends(t, 75)
	require.Contains(t, waiter.stderr(t), "/w was not free within 10s")
}
