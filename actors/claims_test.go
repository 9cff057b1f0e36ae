package actors

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/turnstile-locks/turnstile/actors/machine"
	"github.com/turnstile-locks/turnstile/actors/queue"
	"github.com/turnstile-locks/turnstile/messages"
)

// again adds a contender of an owner that may have the lock several times.
func (a *aloneSession) again(node string) (*contender, <-chan machine.Event) {
	c, heard := a.contend(node)
	c.spec.owner, c.spec.reentry = "me", true
	return c, heard
}

// TestSecondWaitsForTheFirst: it sends nothing of its own, shares the hold, and the node goes with the last.
// TestTokenOfASharedHoldIsFoundAgain: a node that one transaction made with others has the same token for all who hold
// with it, also when it has been looked for (seed 5913 of the simulation: it was one less after a cut).
func TestTokenOfASharedHoldIsFoundAgain(t *testing.T) {
	a := newAlone(t, 1)
	first, _ := a.again(nodeName(1))
	token, err := messages.NewToken(7, 1)
	require.NoError(t, err)
	first.token, first.place, first.mates, first.granted = token, 1, true, true
	a.stake(first)
	second, heard := a.again("")
	a.create(second, 5)
	require.Equal(t, token, (<-heard).Token)
	require.True(t, second.mates)
	a.verify(second, 6)
	a.verified(second, 6, own{node: first.node, czxid: 7}, nil)
	require.Equal(t, token, (<-heard).Token)
}

// TestOneDeleteOfAContestAtATime: its node is anybody's who makes it, and the second of two deletes may find another's
// (seed 4681 of the simulation: a lock actor that was stopped while it gave back).
func TestOneDeleteOfAContestAtATime(t *testing.T) {
	a := newAlone(t, 1)
	c, heard := a.contend("p")
	c.spec.node, c.style.Mode, c.granted = "p", messages.Contest, true
	first := machine.Effect{Do: machine.GiveBack, Op: 5, Node: "p"}
	a.remove(c, first)
	require.Equal(t, 1, a.asked)
	again := machine.Effect{Do: machine.Delete, Op: 6, Node: "p"}
	a.remove(c, again)
	require.Equal(t, 1, a.asked, "the first is under way")
	a.removedInContest(c, first, time.Time{}, nil)
	require.Equal(t, uint64(5), (<-heard).Op)
	require.Equal(t, 2, a.asked)
	a.abandoned(c.lock)
	require.Equal(t, 2, a.asked, "the second is")
	a.removedInContest(c, again, time.Time{}, nil)
	require.Empty(t, a.contenders, "nothing is left of it")
	require.Equal(t, 2, a.asked)
}

func TestSecondWaitsForTheFirst(t *testing.T) {
	a := newAlone(t, 1)
	first, _ := a.again(nodeName(1))
	second, heard := a.again("")
	a.stake(first)
	a.create(second, 5)
	a.quiet(t, second, heard)
	require.Zero(t, a.asked)
	a.grantedTo(first)
	ev := <-heard
	require.Equal(t, machine.Event{Kind: machine.Created, Op: 5, Node: first.node, Alone: true}, ev)
	a.remove(first, machine.Effect{Do: machine.Delete, Op: 6, Node: first.node})
	require.Zero(t, a.asked, "the second holds with that node")
	a.remove(second, machine.Effect{Do: machine.Delete, Op: 7, Node: second.node})
	require.Equal(t, 1, a.asked)
	require.Empty(t, a.shares)
	require.Empty(t, a.claims)
}

// TestReaderWithinAWriterThatWasJustGranted: the writer's lock actor tells its owner that it holds before it asks
// the session for anything more, so the reader's request may come first.
func TestReaderWithinAWriterThatWasJustGranted(t *testing.T) {
	a := newAlone(t, 1)
	writer, _ := a.again(queue.Style{Mode: messages.Write}.Prefix("w") + "0000000001")
	reader, heard := a.again("")
	writer.spec.style.Mode, reader.spec.style.Mode = messages.Write, messages.Read
	a.stake(writer)
	a.create(reader, 5)
	a.quiet(t, reader, heard)
	require.Zero(t, a.asked)
	a.grantedTo(writer)
	require.Equal(t, 1, a.asked, "the read node at the writer's place")
	require.True(t, reader.under)
	a.quiet(t, reader, heard)
}

// TestFirstGivesUp: who waited for it queues by itself, and the next waits for that one.
func TestFirstGivesUp(t *testing.T) {
	a := newAlone(t, 1)
	first, _ := a.again(nodeName(1))
	second, heard2 := a.again("")
	third, heard3 := a.again("")
	a.stake(first)
	a.create(second, 5)
	a.create(third, 6)
	require.Zero(t, a.asked)
	a.remove(first, machine.Effect{Do: machine.Delete, Op: 7, Node: first.node})
	require.Equal(t, 2, a.asked, "its delete, and the second's create")
	a.quiet(t, second, heard2)
	a.quiet(t, third, heard3)
	require.Zero(t, second.joins)
	require.EqualValues(t, 6, third.joins)
}

// TestWhatWaitedForTheFirstIsAnsweredOnce: the connection was cut while the second waited. It looks where it
// stands, and asks again; the first is granted meanwhile. One share is one, and the node goes with the last.
func TestWhatWaitedForTheFirstIsAnsweredOnce(t *testing.T) {
	a := newAlone(t, 1)
	first, _ := a.again(nodeName(1))
	second, heard := a.again("")
	a.stake(first)
	a.create(second, 5)
	a.verify(second, 6)
	a.grantedTo(first)
	a.quiet(t, second, heard)
	a.verified(second, 6, own{}, nil)
	require.Equal(t, machine.Found, (<-heard).Kind)
	a.create(second, 7)
	require.EqualValues(t, 7, (<-heard).Op)
	require.Equal(t, map[string]int{first.at(first.node): 1}, a.shares)
	a.remove(second, machine.Effect{Do: machine.Delete, Op: 8, Node: second.node})
	asked := a.asked
	a.remove(first, machine.Effect{Do: machine.Delete, Op: 9, Node: first.node})
	require.Equal(t, asked+1, a.asked, "the node has to go")
}

// TestSharedNodeIsFoundGone: an operator deleted it while the connection was down. Nothing is left of the share, so
// that the next node of that name, as contests have, is nobody's but its holder's.
func TestSharedNodeIsFoundGone(t *testing.T) {
	a := newAlone(t, 1)
	first, _ := a.again(nodeName(1))
	second, heard := a.again("")
	a.stake(first)
	a.grantedTo(first)
	a.create(second, 5)
	require.Equal(t, machine.Created, (<-heard).Kind)
	require.NotEmpty(t, a.shares)
	for n, c := range []*contender{first, second} {
		a.verify(c, uint64(6+n))
		a.verified(c, uint64(6+n), own{}, nil)
	}
	require.Empty(t, a.shares)
	require.Empty(t, first.node)
	require.Empty(t, second.node)
}

// TestKin: who is refused, and why.
func TestKin(t *testing.T) {
	for _, c := range []struct {
		has, wants messages.Mode
		reentry    bool
		why        messages.Reason
	}{
		{messages.Exclusive, messages.Exclusive, false, messages.ReasonReentry},
		{messages.Write, messages.Write, false, messages.ReasonReentry},
		{messages.Read, messages.Read, false, messages.ReasonReentry},
		{messages.Read, messages.Write, false, messages.ReasonUpgrade},
		{messages.Read, messages.Write, true, messages.ReasonUpgrade},
		{messages.Read, messages.Exclusive, true, messages.ReasonUpgrade},
		{messages.Exclusive, messages.Read, true, messages.ReasonReentry},
	} {
		a := newAlone(t, 1)
		first, _ := a.again(nodeName(1))
		second, heard := a.again("")
		first.spec.style.Mode, second.spec.style.Mode, second.spec.reentry = c.has, c.wants, c.reentry
		a.stake(first)
		a.grantedTo(first)
		a.create(second, 5)
		ev := <-heard
		require.Equal(t, machine.NotCreated, ev.Kind, "%+v", c)
		require.Equal(t, c.why, ev.Reason, "%+v", c)
		require.Zero(t, a.asked)
	}
}
