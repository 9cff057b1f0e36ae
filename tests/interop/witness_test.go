package interop

import (
	"bufio"
	"fmt"
	"net"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/turnstile-locks/turnstile/tests/scene"
)

// Each case is a place with a name of its own: reports over the wire, with what is wrong about them, or nothing.
func TestWitness(t *testing.T) {
	s := serveWitness(t)
	conn, err := net.Dial("tcp", s.Addr())
	require.NoError(t, err)
	answers := bufio.NewReader(conn)
	var want []string
	for _, reports := range [][][2]string{
		{{"enter a 1 exclusive"}, {"leave a 1"}, {"enter b 1 exclusive"}, {"leave b 1"}, {"enter a 1 shared"}, {"leave a 1"}},
		{{"enter a 2 exclusive"}, {"enter b 2 exclusive", "b enters 2 (exclusive) while a is inside (exclusive)"},
			{"leave a 2"}, {"leave b 2"}}, // it was there
		{{"enter a 3 shared"}, {"enter b 3 shared"}, {"leave a 3"},
			{"enter c 3 exclusive", "c enters 3 (exclusive) while b is inside (shared)"}, {"leave b 3"}, {"leave c 3"}},
		{{"enter a 4 exclusive"}, {"enter b 4 shared", "b enters 4 (shared) while a is inside (exclusive)"}, {"leave a 4"}, {"leave b 4"}},
		{{"enter a 5 one-of-2"}, {"enter b 5 one-of-2"}, {"enter c 5 one-of-2", "c enters 5 (one-of-2) with a, b inside"}, {"leave b 5"},
			{"leave c 5"}, {"enter b 5 one-of-3", "b enters 5 (one-of-3) while a is inside (one-of-2)"}, {"leave a 5"}, {"leave b 5"}},
		{{"leave a 6", "a leaves 6 and is not inside"}, {"enter a 6 shared"}, {"enter a 6 shared", "a enters 6 and is inside already"},
			{"leave a 6"}, {"leave a 6", "a leaves 6 and is not inside"}},
		{{"enter a 7 exclusive"}, {"change a 7 shared"}, {"enter b 7 shared"},
			{"change a 7 exclusive", "a enters 7 (exclusive) while b is inside (shared)"}, {"leave a 7"}, {"leave b 7"},
			{"change a 7 shared", "a changes its claim on 7 and is not inside"}},
		// With nodes, in order, with gaps.
		{{"enter a 8 exclusive _c_x-lock-0000000000"}, {"leave a 8"}, {"enter b 8 exclusive 8/y__lock__0000000001"}, {"leave b 8"},
			{"enter a 8 exclusive z-lock-0000000007"}, {"leave a 8"}},
		{{"enter a 9 exclusive l-0000000004"}, {"leave a 9"},
			{"enter b 9 exclusive l-0000000003", "b enters 9 with l-0000000003 (exclusive) after a with l-0000000004"}, {"leave b 9"},
			{"enter a 9 exclusive l-0000000004", "a enters 9 with l-0000000004 (exclusive) after a with l-0000000004"}, {"leave a 9"},
			{"enter c 9 exclusive l-0000000005"}, {"leave c 9"}},
		// Readers overtake each other, and no writer; nobody overtakes a writer.
		{{"enter w 10 exclusive l-0000000001"}, {"leave w 10"}, {"enter a 10 shared l-0000000004"}, {"leave a 10"},
			{"enter b 10 shared l-0000000002"}, {"leave b 10"},
			{"enter w 10 exclusive l-0000000003", "w enters 10 with l-0000000003 (exclusive) after a with l-0000000004"}, {"leave w 10"},
			{"enter a 10 shared l-0000000002", "a enters 10 with l-0000000002 (shared) after w with l-0000000003"}, {"leave a 10"}},
		{{"enter a 11 one-of-2 lease-0000000002"}, {"enter b 11 one-of-2 lease-0000000001"}, {"leave a 11"}, {"leave b 11"}},
		{{"enter a 12 exclusive lock-7", "a enters 12 with lock-7, which has no sequence number"}, {"leave a 12"},
			{"enter a 12 exclusive l-00000000x7", "a enters 12 with l-00000000x7, which has no sequence number"}, {"leave a 12"}},
		{{"change a 13 one-of-1 l-0000000003", `"change a 13 one-of-1 l-0000000003" is no report`}, {"enter a 13", `"enter a 13" is no report`},
			{"enter a 13 Shared", `"enter a 13 Shared" is no report`}, {"enter a 13 one-of-0", `"enter a 13 one-of-0" is no report`},
			{"exit a 13 shared", `"exit a 13 shared" is no report`}, {"", `"" is no report`}},
	} {
		for _, report := range reports {
			answer := "ok\n"
			if report[1] != "" {
				answer = "violation interop: " + report[1] + "\n"
				want = append(want, "interop: "+report[1])
			}
			_, err := fmt.Fprintln(conn, report[0])
			require.NoError(t, err)
			got, err := answers.ReadString('\n')
			require.NoError(t, err)
			require.Equal(t, answer, got, report[0])
		}
	}
	require.Equal(t, want, s.Violations())
	require.Empty(t, s.Inside())

	// A holder that was detained goes on when it is released, once, and holders elsewhere at once.
	inside, release := s.Detain("a")
	_, err = fmt.Fprint(conn, "enter a x shared\nenter a y shared\n")
	require.NoError(t, err)
	scene.Receive(t, inside)
	require.NoError(t, s.EnterWith("n-0000000001", "b", "y", exclusive))
	require.Equal(t, []string{"a in x", "b in y"}, s.Inside())
	require.NoError(t, s.Leave("b", "y"))
	release()
	for range 2 {
		got, err := answers.ReadString('\n')
		require.NoError(t, err)
		require.Equal(t, "ok\n", got)
	}
	require.Equal(t, []Entry{{"a", "x", shared, ""}, {"b", "y", exclusive, "n-0000000001"}, {"a", "y", shared, ""}},
		s.Entries()[len(s.Entries())-3:])

	// One whose connection ends is gone, and a witness that ends lets go who is detained.
	require.NoError(t, conn.Close())
	scene.Eventually(t, func() bool { return len(s.Violations()) == len(want)+2 }, "a is gone")
	require.ElementsMatch(t, []string{"interop: a is gone and never left x", "interop: a is gone and never left y"}, s.Violations()[len(want):])
	inside, _ = s.Detain("a")
	again, err := net.Dial("tcp", s.Addr())
	require.NoError(t, err)
	defer again.Close()
	_, err = fmt.Fprintln(again, "enter a x shared")
	require.NoError(t, err)
	scene.Receive(t, inside)
	s.Close()
}

// failure is a testing.TB that remembers what was wrong.
type failure struct {
	testing.TB
	cleanups []func()
	errors   []string
}

func (f *failure) Helper()                      {}
func (f *failure) Cleanup(end func())           { f.cleanups = append(f.cleanups, end) }
func (f *failure) Error(args ...any)            { f.errors = append(f.errors, fmt.Sprint(args...)) }
func (f *failure) Errorf(text string, a ...any) { f.errors = append(f.errors, fmt.Sprintf(text, a...)) }

func TestAViolationFailsTheTest(t *testing.T) {
	f := &failure{TB: t}
	s := StartWitness(f)
	require.NoError(t, s.Enter("a", "/x", Exclusive()))
	require.Error(t, s.Enter("b", "/x", Exclusive()))
	require.NoError(t, s.Leave("b", "/x"))
	for _, end := range f.cleanups {
		end()
	}
	require.Equal(t, []string{
		"interop: b enters /x (exclusive) while a is inside (exclusive)",
		"interop: a in /x when the test has ended",
	}, f.errors)
}
