package actors

import (
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/turnstile-locks/turnstile/actors/machine"
	"github.com/turnstile-locks/turnstile/messages"
	"github.com/turnstile-locks/turnstile/zkconn"
)

// counted makes a session that knows its lock path, so that creates may share a transaction.
func counted(t *testing.T) *aloneSession {
	t.Helper()
	a := newAlone(t, 1)
	a.facts.Add("/p", facts{exists: true, counted: true})
	return a
}

// TestChangesGather: an idle session sends at once; what comes while that is under way goes together.
func TestChangesGather(t *testing.T) {
	a := counted(t)
	for i := range 5 {
		c, _ := a.contend("")
		a.create(c, uint64(i+1))
	}
	require.Equal(t, 1, a.asked, "the first is sent at once")
	require.Len(t, a.gathered, 4)
	a.underway--
	a.flush()
	require.Equal(t, 2, a.asked, "the others go together")
	require.Empty(t, a.gathered)

	for i := range enough {
		c, _ := a.contend("")
		a.create(c, uint64(i+1))
	}
	require.Equal(t, 3, a.asked, "enough for another, while one is under way")
	require.Equal(t, 2, a.underway)
}

// TestChangesAreBounded: by operations and by bytes.
func TestChangesAreBounded(t *testing.T) {
	a := counted(t)
	a.underway = maxUnderway
	for i := range maxTogether + 10 {
		c, _ := a.contend("")
		a.create(c, uint64(i+1))
	}
	require.Zero(t, a.asked)
	a.underway = 0
	a.flush()
	require.Equal(t, 1, a.asked)
	require.Len(t, a.gathered, 10)

	a.gathered = nil
	a.underway = maxUnderway
	for i := range 10 {
		c, _ := a.contend("")
		c.want.Label = strings.Repeat("x", maxBytes/2)
		a.create(c, uint64(i+1))
	}
	a.underway = 0
	a.flush()
	require.Len(t, a.gathered, 9, "two would be more than fit")
}

// TestTransactionThatIsRefused: each of its parts is asked for by itself.
func TestTransactionThatIsRefused(t *testing.T) {
	a := counted(t)
	one, heard1 := a.contend("")
	two, heard2 := a.contend(nodeName(2))
	one.creates = 1
	a.underway = 1
	a.committed([]change{{contender: one, op: 1}, {contender: two, op: 2, node: nodeName(2)}}, nil, time.Now(), zkconn.ErrNoNode)
	require.Equal(t, 2, a.asked)
	a.quiet(t, one, heard1)
	a.quiet(t, two, heard2)
}

// TestTransactionThatNobodyKnowsOf: neither does anybody know of its parts.
func TestTransactionThatNobodyKnowsOf(t *testing.T) {
	a := counted(t)
	one, heard1 := a.contend("")
	two, heard2 := a.contend(nodeName(2))
	one.creates = 1
	a.underway = 1
	a.committed([]change{{contender: one, op: 1}, {contender: two, op: 2, node: nodeName(2)}}, nil, time.Now(), zkconn.ErrUnknownOutcome)
	require.Zero(t, a.asked)
	require.Equal(t, machine.Unknown, (<-heard1).Kind)
	require.Equal(t, machine.Unknown, (<-heard2).Kind)
	require.True(t, one.unsure)
}

// TestCreatesOfOneTransaction: the first may be alone, the others are behind the one before; tokens rise.
func TestCreatesOfOneTransaction(t *testing.T) {
	a := counted(t)
	var batch []change
	var made []zkconn.Created
	var heard []<-chan machine.Event
	for i := range 3 {
		c, told := a.contend("")
		c.creates = 1
		heard = append(heard, told)
		batch = append(batch, change{contender: c, op: uint64(i + 1)})
		made = append(made, zkconn.Created{Name: nodeName(i), Czxid: 7, Siblings: 3, Place: i, Together: 3})
	}
	a.underway = 1
	a.committed(batch, made, time.Now(), nil)
	var last messages.Token
	for i, told := range heard {
		ev := <-told
		require.Equal(t, machine.Created, ev.Kind)
		require.Equal(t, i == 0, ev.Alone)
		require.Greater(t, ev.Token, last)
		last = ev.Token
		if i > 0 {
			require.Equal(t, nodeName(i-1), ev.Predecessor)
		}
	}
}

// TestWithdrawnBeforeItWasSent: nothing is made.
func TestWithdrawnBeforeItWasSent(t *testing.T) {
	a := counted(t)
	a.underway = 1
	c, heard := a.contend("")
	a.create(c, 1)
	require.Len(t, a.gathered, 1)
	a.withdraw(c, &order{Effect: machine.Effect{Do: machine.Withdraw, Op: 1}})
	require.Equal(t, machine.NotCreated, (<-heard).Kind)
	require.Empty(t, a.gathered)
	require.Zero(t, c.creates)
}
