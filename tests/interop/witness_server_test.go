package interop

import (
	"bufio"
	"fmt"
	"net"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

// reporter is a connection to a witness.
type reporter struct {
	net.Conn
	answers *bufio.Reader
}

// serveWitness gives a witness whose violations are the test's own business.
func serveWitness(t *testing.T) *WitnessServer {
	t.Helper()
	s, err := ServeWitness(NewWitness())
	require.NoError(t, err)
	t.Cleanup(s.Close)
	return s
}

func connectTo(t *testing.T, s *WitnessServer) *reporter {
	t.Helper()
	conn, err := net.Dial("tcp", s.Addr())
	require.NoError(t, err)
	t.Cleanup(func() { _ = conn.Close() })
	require.NoError(t, conn.SetDeadline(time.Now().Add(bound)))
	return &reporter{conn, bufio.NewReader(conn)}
}

func (r *reporter) send(t *testing.T, line string) {
	t.Helper()
	_, err := fmt.Fprintln(r, line)
	require.NoError(t, err)
}

func (r *reporter) requireAnswer(t *testing.T, want string) {
	t.Helper()
	answer, err := r.answers.ReadString('\n')
	require.NoError(t, err)
	require.Equal(t, want+"\n", answer)
}

func TestWitnessOverTheWire(t *testing.T) {
	s := serveWitness(t)
	one, other := connectTo(t, s), connectTo(t, s)
	for _, step := range []struct {
		who          *reporter
		line, answer string
	}{
		{one, "enter a /x exclusive", "ok"},
		{other, "enter b /x shared", "violation interop: b enters /x (shared) while a is inside (exclusive)"},
		{other, "leave b /x", "ok"},
		{one, "change a /x shared", "ok"},
		{other, "enter b /x shared", "ok"},
		{other, "leave b /x", "ok"},
		{one, "leave a /x", "ok"},
		{one, "leave a /x", "violation interop: a leaves /x and is not inside"},
		{one, "enter a /x one-of-1", "ok"},
		{other, "enter b /x one-of-1", "violation interop: b enters /x (one-of-1) with a inside"},
		{one, "enter a /y exclusive lock-0000000002", "ok"},
		{one, "leave a /y", "ok"},
		{other, "enter b /y exclusive /y/lock-0000000001",
			"violation interop: b enters /y with /y/lock-0000000001 (exclusive) after a with lock-0000000002"},
		{other, "leave b /y", "ok"},
		{one, "change a /x one-of-1 lock-0000000003",
			`violation interop: "change a /x one-of-1 lock-0000000003" is no report`},
		{one, "enter a /x", `violation interop: "enter a /x" is no report`},
		{one, "enter a /x loosely", `violation interop: "enter a /x loosely" is no report`},
		{one, "exit a /x shared", `violation interop: "exit a /x shared" is no report`},
		{one, "", `violation interop: "" is no report`},
	} {
		step.who.send(t, step.line)
		step.who.requireAnswer(t, step.answer)
	}
	require.Len(t, s.Violations(), 9)
}

func TestAHolderThatIsGoneIsAViolation(t *testing.T) {
	s := serveWitness(t)
	r := connectTo(t, s)
	r.send(t, "enter a /x exclusive")
	r.requireAnswer(t, "ok")
	require.NoError(t, r.Close())
	require.Eventually(t, func() bool { return len(s.Violations()) > 0 }, bound, time.Millisecond)
	require.Equal(t, []string{"interop: a is gone and never left /x"}, s.Violations())
	require.Empty(t, s.Inside())
}

func TestDetain(t *testing.T) {
	s := serveWitness(t)
	inside, release := s.Detain("a")
	held, free := connectTo(t, s), connectTo(t, s)
	held.send(t, "enter a /x exclusive")
	<-inside
	require.Equal(t, []string{"a in /x"}, s.Inside())
	free.send(t, "enter b /y exclusive")
	free.requireAnswer(t, "ok") // nobody else waits
	require.NoError(t, held.SetReadDeadline(time.Now().Add(20*time.Millisecond)))
	_, err := held.answers.Peek(1)
	require.Error(t, err, "a has its answer already")
	require.NoError(t, held.SetReadDeadline(time.Now().Add(bound)))
	release()
	held.requireAnswer(t, "ok")
	release()
	held.send(t, "leave a /x")
	held.requireAnswer(t, "ok")
	held.send(t, "enter a /x exclusive")
	held.requireAnswer(t, "ok") // once only
}

func TestAWitnessThatEndsLetsGo(t *testing.T) {
	s := serveWitness(t)
	inside, _ := s.Detain("a")
	r := connectTo(t, s)
	r.send(t, "enter a /x exclusive")
	<-inside
	s.Close()
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
