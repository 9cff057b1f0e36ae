package restarts

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/turnstile-locks/turnstile/locks"
	"github.com/turnstile-locks/turnstile/tests/patient"
	"github.com/turnstile-locks/turnstile/tests/stories"
)

// reclaimerVariable makes TestReclaimerInAProcess a process that holds a lock with a reclaim key and is to be killed: a
// reclaimer in JSON.
const reclaimerVariable = "TURNSTILE_TEST_RECLAIMER"

// reclaimer has the settings of such a process.
type reclaimer struct {
	Connect, Path string
	File          string        // the session file
	Label         string        // "" for a lock that is not reclaimed
	Timeout       time.Duration // of the session
}

// TestReclaimerInAProcess is not a test but a process: it locks, says what it holds with, and gives back when it gets a
// line.
func TestReclaimerInAProcess(t *testing.T) {
	text := os.Getenv(reclaimerVariable)
	if text == "" {
		return
	}
	var r reclaimer
	require.NoError(t, json.Unmarshal([]byte(text), &r))
	client, err := locks.Open(patient.Deadline(t), r.Connect, locks.WithSessionTimeout(r.Timeout),
		locks.WithSessionFile(r.File))
	if err != nil {
		stories.Say("refused", errors.Is(err, locks.ErrSessionFileInUse))
		return
	}
	stories.Say("opened")
	lease, err := client.Mutex(r.Path, locks.WithReclaim(r.Label)).Lock(patient.Deadline(t))
	if err != nil {
		stories.Say("failed", err)
		return
	}
	stories.Say("holds", int64(lease.Token()), lease.Node(), lease.Session(), lease.Valid())
	stories.AwaitGoOn(t)
	stories.Say("gave", lease.Unlock(patient.Deadline(t)) == nil)
	require.NoError(t, client.Close(context.Background()))
}

// reclaiming is such a process as its test sees it.
type reclaiming struct{ *stories.Process }

func (r reclaimer) start(t *testing.T) reclaiming {
	t.Helper()
	text, err := json.Marshal(r)
	require.NoError(t, err)
	return reclaiming{stories.StartProcess(t, "TestReclaimerInAProcess", reclaimerVariable, string(text))}
}

// grant is the grant of the process.
type grant struct {
	token   locks.Token
	node    string
	session int64
}

// opened waits until the process has a client.
func (p reclaiming) opened(t *testing.T) {
	t.Helper()
	require.Equal(t, "opened", p.Hear(t))
}

// holds waits until the process holds, with a valid lease.
func (p reclaiming) holds(t *testing.T) (g grant) {
	t.Helper()
	line := p.Hear(t)
	require.True(t, strings.HasPrefix(line, "holds "), line)
	var valid bool
	_, err := fmt.Sscanf(line, "holds %d %s %d %t", &g.token, &g.node, &g.session, &valid)
	require.NoError(t, err)
	require.True(t, valid)
	return g
}

// gives has the process give back, and waits for its end.
func (p reclaiming) gives(t *testing.T) {
	t.Helper()
	p.GoOn(t)
	require.Equal(t, "gave true", p.Hear(t))
	<-p.Exited()
	require.NoError(t, p.Err())
}
