package multilock

import (
	"fmt"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/turnstile-locks/turnstile/zkconn/retry"
)

// user is the user of a Acquisition. It takes locks and gives them back as it is told. It is a value,
// so that every order of what may happen can be tried from it.
type user struct {
	acquisition Acquisition
	locks       int
	asked       bool // for one lock, which is neither granted nor refused
	held        int
	goBack      bool // it gives back what it has
	paused      bool
	have        bool // it was told that all are held
	gaveUp      bool
	refusals    int // for want of room, with locks held
	ended       bool
}

// happenings are the events that may happen to a user, each with whether it may happen now.
var happenings = []struct {
	name string
	may  func(user) bool
	then func(*user) Next
}{
	{"granted", func(u user) bool { return u.asked }, func(u *user) Next {
		u.asked, u.held = false, u.held+1
		return u.acquisition.Granted()
	}},
	{"refused", func(u user) bool { return u.asked }, func(u *user) Next {
		u.asked = false
		return u.acquisition.Refused(false)
	}},
	{"no room", func(u user) bool { return u.asked }, func(u *user) Next {
		if u.asked = false; u.held > 0 && !u.goBack {
			u.refusals++
		}
		return u.acquisition.Refused(true)
	}},
	{"lost", func(u user) bool { return u.held > 0 }, func(u *user) Next {
		u.held--
		return u.acquisition.Lost()
	}},
	{"none left", func(u user) bool { return u.held == 0 && !u.asked && !u.paused && !u.ended }, func(u *user) Next {
		u.goBack = false
		return u.acquisition.NoneLeft()
	}},
	{"given up", func(u user) bool { return !u.gaveUp && !u.ended }, func(u *user) Next {
		u.gaveUp = true
		return u.acquisition.GiveUp()
	}},
	{"pause over", func(u user) bool { return u.paused }, func(u *user) Next {
		u.paused = false
		return u.acquisition.PauseOver()
	}},
}

// does carries out what follows, and says what is wrong with it.
func (u *user) does(next Next) error {
	u.have = u.have && next.Do != GiveBack
	switch next.Do {
	case Ask:
		if u.asked || u.goBack || u.paused || u.gaveUp || u.ended {
			return fmt.Errorf("asked for lock %d", next.Lock)
		}
		if next.Lock != u.held || next.Lock >= u.locks {
			return fmt.Errorf("asked for lock %d of %d with %d held", next.Lock, u.locks, u.held)
		}
		u.asked = true
	case HaveAll:
		if u.held != u.locks || u.goBack || u.gaveUp {
			return fmt.Errorf("has all with %d of %d held", u.held, u.locks)
		}
		u.have = true
	case GiveBack:
		if u.goBack {
			return fmt.Errorf("told twice to give back")
		}
		u.goBack = true
	case Pause:
		if u.held > 0 || u.asked || u.gaveUp || next.Pause <= 0 {
			return fmt.Errorf("pauses for %v", next.Pause)
		}
		u.paused = true
	case End:
		if u.held > 0 || u.asked || u.ended {
			return fmt.Errorf("ends")
		}
		u.ended, u.paused = true, false // a timer may still fire: see below
	}
	return nil
}

// stuck says whom nobody would ever tell anything more, though it is not over.
func (u user) stuck() bool { return !u.asked && u.held == 0 && !u.paused && !u.ended && !u.goBack }

// TestEveryCourseOfSeveral: under every order of events of up to four locks, they are asked for one
// after the other, never while others go back, and it ends once, when none is left; it begins again
// for want of room alone, a few times.
func TestEveryCourseOfSeveral(t *testing.T) {
	seen, again, mostRefusals := 0, false, 0
	for locks := 1; locks <= 4; locks++ {
		first := user{locks: locks}
		require.NoError(t, first.does(first.acquisition.Begin(locks)))
		met, todo := map[user]bool{first: true}, []user{first}
		for len(todo) > 0 {
			u := todo[len(todo)-1]
			todo = todo[:len(todo)-1]
			for _, h := range happenings {
				if !h.may(u) {
					continue
				}
				after := u
				next := h.then(&after)
				require.NoError(t, after.does(next), "%s in %+v", h.name, u)
				require.False(t, after.stuck(), "%s in %+v", h.name, u)
				require.False(t, after.gaveUp && next.Do == Pause, "%s in %+v", h.name, u)
				again = again || h.name == "pause over" && next.Do == Ask
				mostRefusals = max(mostRefusals, after.refusals)
				require.LessOrEqual(t, after.refusals, retry.NoRoomTries)
				if !met[after] {
					met[after] = true
					todo = append(todo, after)
				}
			}
			late := u
			if u.ended {
				require.Equal(t, Next{}, late.acquisition.PauseOver(), "a timer that fires late")
				require.Equal(t, Next{}, late.acquisition.NoneLeft())
				require.Equal(t, Next{}, late.acquisition.GiveUp())
			}
		}
		seen += len(met)
	}
	require.True(t, again)
	require.Equal(t, retry.NoRoomTries, mostRefusals)
	t.Logf("%d states", seen)
}

// TestSeveralBeginsAgain: in a full session the pauses grow, and the last refusal is the end.
func TestSeveralBeginsAgain(t *testing.T) {
	var s Acquisition
	require.Equal(t, Next{Do: Ask}, s.Begin(2))
	require.Equal(t, Next{Do: GiveBack}, s.Refused(true), "nobody waits for what it holds")
	require.False(t, s.Retreats())
	require.Equal(t, Next{Do: End}, s.NoneLeft())

	s.Begin(2)
	for try := 1; ; try++ {
		require.Equal(t, Next{Do: Ask, Lock: 1}, s.Granted())
		require.Equal(t, Next{Do: GiveBack}, s.Refused(true))
		require.Equal(t, Next{}, s.Lost(), "it goes back anyway")
		next := s.NoneLeft()
		if try == retry.NoRoomTries {
			require.Equal(t, Next{Do: End}, next)
			return
		}
		require.Equal(t, Pause, next.Do)
		require.Positive(t, next.Pause)
		require.Equal(t, Next{Do: Ask}, s.PauseOver())
	}
}
