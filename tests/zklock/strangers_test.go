package zklock

import (
	"fmt"
	"net"
	"regexp"
	"strings"
	"sync"
	"testing"

	"github.com/go-zookeeper/zk"
	"github.com/stretchr/testify/require"

	"github.com/turnstile-locks/turnstile/zkconn/embedded"
)

// TestKazooBesideOurs: a contender of kazoo's that does not see the holder before it is not shown as waiting behind it, and both
// queue and doctor warn.
func TestKazooBesideOurs(t *testing.T) {
	t.Parallel()
	at := here(t)
	holder, _ := runs(t, at, "run /k -- sh -c", holding)
	conn := at.raw(t)
	kazoo := func(acl []zk.ACL) {
		_, err := conn.Create(at.chroot+"/k/0123456789abcdef0123456789abcdef__lock__", []byte("host"), zk.FlagEphemeral|zk.FlagSequence, acl)
		require.NoError(t, err)
	}
	kazoo(zk.WorldACL(zk.PermAll))
	kazoo(zk.WorldACL(zk.PermAll))
	stdout, _ := says(t, at, 0, "queue /k")
	lines := strings.Split(strings.TrimSpace(stdout), "\n")
	require.Equal(t, "/k: 1 holds, 1 waits, 1 may hold", lines[0])
	require.Regexp(t, `^ *0  holds `, lines[3])
	require.Regexp(t, `^ *1  holds\? .* kazoo`, lines[4])
	require.Regexp(t, `^ *2  waits .* kazoo`, lines[5])
	require.Contains(t, stdout, "warning: /k: number 1 is kazoo's, which by itself does not see those before it")
	require.Contains(t, stdout, "extra_lock_patterns")
	all := parsed[[]struct {
		Holds   bool
		MayHold bool `json:"may_hold"`
	}](t, at, 0, "queue --json /k")
	require.Len(t, all, 3)
	require.Equal(t, []bool{false, true, false}, []bool{all[0].MayHold, all[1].MayHold, all[2].MayHold})
	require.False(t, all[1].Holds, "by the rule of the queue it waits")

	found, do := finds(t, at, 0, "", "two at once?", "warn")
	require.Contains(t, found, "/k: number 1 is kazoo's")
	require.Contains(t, do, "extra_lock_patterns")
	holder.leaves(t)
}

// TestDoctorOnContendersOfNoSession: no session's end deletes them, and contenders behind them wait
// for ever.
func TestDoctorOnContendersOfNoSession(t *testing.T) {
	eachServer(t, func(t *testing.T, at place) {
		at.make(t, "/p", "/p/lock-0000000007")
		found, do := finds(t, at, 1, "", "no session", "FAIL")
		require.Contains(t, found, "/p/lock-0000000007 belongs to no session")
		command := regexp.MustCompile(`zklock (break /p \S+)`).FindStringSubmatch(do)
		require.NotNil(t, command, do)
		says(t, at, 0, command[1]+" --yes")
		says(t, at, 0, "doctor")
	})
}

// TestDoctorSaysWhatItCouldNotRead: what is there is not known to be well.
func TestDoctorSaysWhatItCouldNotRead(t *testing.T) {
	t.Parallel()
	at := here(t)
	at.make(t)
	for i := range 7 {
		at.private(t, fmt.Sprint("/private-", i))
	}
	stdout, _ := says(t, at, 0, "doctor")
	require.Regexp(t, `(?m)^warn +not read +/private-0: .*ACL`, stdout)
	require.Regexp(t, `(?m)^warn +not read +and 2 more$`, stdout)
	require.NotContains(t, stdout, "all is well")
	stdout, _ = says(t, at, 0, "doctor --auth digest:ann:secret")
	require.NotContains(t, stdout, "not read")
}

// TestDoctorOnDumps: what a server's own list of sessions shows: a contender that the server has kept beyond the end of its
// session, and sessions that weigh too much.
func TestDoctorOnDumps(t *testing.T) {
	t.Parallel()
	server := embedded.Run(t).Addr()
	large := strings.Repeat("\t/large/_c_0123456789abcdef0123456789abcdef-lock-0000000001\n", 10_000)
	at := place{addr: dumping(t, server, func(ours string) string {
		return "SessionTracker dump:\nSession Sets (1)/(1):\n2 expire at Thu Jan 01 00:10:00 UTC 1970:\n\t" + ours + "\n\t0x1\nephemeral nodes dump:\n" +
			"Sessions with Ephemerals (3):\n0x1:\n" + large + "0x2:\n\t/orders/_c_x-lock-0000000003\n\t/brokers/7\nConnections dump:\n"
	})}
	r := parsed[report](t, at, 1, "doctor --json")
	grade, found, do := r.grade(t, "no session")
	require.Equal(t, "FAIL", grade)
	require.Contains(t, found, "/orders/_c_x-lock-0000000003, and not its session")
	require.Contains(t, do, "ZOOKEEPER-4541")
	require.Equal(t, 1, strings.Count(fmt.Sprint(r), "and not its session"), "a node that is no contender is nobody's business here")
	grade, found, _ = r.grade(t, "weight")
	require.Equal(t, "warn", grade)
	require.Contains(t, found, "the heaviest session is 0x1: 10000 ephemeral nodes")

	foreign := place{addr: dumping(t, server, func(string) string {
		return "Sessions with Ephemerals (1):\n0x2:\n\t/orders/_c_x-lock-0000000003\n"
	})}
	r = parsed[report](t, foreign, 0, "doctor --json")
	require.NotContains(t, fmt.Sprint(r), "and not its session", "a list without our own session proves nothing")
}

// dumping stands before a server, and answers dump with a text that may name the first session that it granted.
func dumping(t *testing.T, server string, answer func(ours string) string) string {
	t.Helper()
	h := &hearing{}
	return standIn(t, server, func(word string) (string, bool) {
		if word != "dump" {
			return "", false
		}
		h.mu.Lock()
		defer h.mu.Unlock()
		return answer(h.first), true
	}, func(client net.Conn) net.Conn { return heard{client, h} })
}

// hearing has the first session that a server has granted, as it writes it.
type hearing struct {
	mu    sync.Mutex
	first string
}

// heard is a connection whose first answer has the session: a length, a version, a timeout, and the session's number.
type heard struct {
	net.Conn
	*hearing
}

func (h heard) Write(answer []byte) (int, error) {
	h.mu.Lock()
	if h.first == "" && len(answer) >= 20 {
		h.first = "0x" + strings.TrimLeft(fmt.Sprintf("%x", answer[12:20]), "0")
	}
	h.mu.Unlock()
	return h.Conn.Write(answer)
}
