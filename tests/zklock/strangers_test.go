package zklock

import (
	"fmt"
	"regexp"
	"strings"
	"testing"

	"github.com/go-zookeeper/zk"
	"github.com/stretchr/testify/require"
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
