package embedded

import (
	"encoding/binary"
	"io"
	"net"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

// bound bounds a wait for something that must come.
const bound = 60 * time.Second

// FuzzFrames sends arbitrary bytes as all that a client has to say. Its connection ends or waits for more;
// another client of the same server is served.
func FuzzFrames(f *testing.F) {
	greeting := greetingOf(0, make([]byte, passwordSize))
	f.Add(framed(greeting))
	f.Add(framed(greeting[:len(greeting)-1])) // without the read-only flag
	f.Add(framed(greetingOf(7, []byte("wrong"))))
	for op, body := range seedBodies() {
		f.Add(framed(greeting, requestOf(1, op, body)))
		f.Add(framed(requestOf(1, op, body))) // without a session
	}
	for word := range words {
		f.Add([]byte(word))
	}
	f.Add([]byte{})
	f.Add([]byte{0, 0, 0, 0})
	f.Add([]byte{0xff, 0xff, 0xff, 0xff})
	f.Add(framed(greeting, nil))
	f.Add(append(framed(greeting), 0x7f, 0xff, 0xff, 0xff))
	f.Add(append(framed(greeting), 0, 0x0f, 0xff, 0xff, 1, 2, 3))
	f.Add(framed(greeting, requestOf(-2, OpPing, nil), requestOf(1, OpCloseSession, nil), requestOf(2, OpPing, nil)))
	f.Fuzz(func(t *testing.T, stream []byte) {
		s, err := Start(WithoutNetwork(), WithClock(NewManualClock(time.Unix(1e9, 0))))
		require.NoError(t, err)
		defer s.Close()
		client := dialPipe(t, s)
		c := newest(s)
		read := make(chan struct{})
		go func() {
			defer close(read)
			_, _ = io.Copy(io.Discard, client)
		}()
		_, _ = client.Write(stream) // cut short when the server has closed it
		checkServed(t, s)
		_ = client.Close()
		await(t, read)
		await(t, c.done)
		require.NoError(t, inconsistency(s))
		checkServed(t, s)
	})
}

func dialPipe(t testing.TB, s *Server) net.Conn {
	client, err := s.Dialer()("tcp", s.Addr(), 0)
	require.NoError(t, err)
	_ = client.SetDeadline(time.Now().Add(bound))
	return client
}

// newest is the server's end of the connection that was opened last.
func newest(s *Server) *conn {
	s.e.mu.Lock()
	defer s.e.mu.Unlock()
	all := s.e.replicas[0].conns.items
	return all[len(all)-1]
}

func await(t testing.TB, done <-chan struct{}) {
	t.Helper()
	select {
	case <-done:
	case <-time.After(bound):
		require.FailNow(t, "it has not ended")
	}
}

// checkServed has a client of its own make a node, unless another has forbidden that, read one that nobody
// may change, and end its session.
func checkServed(t testing.TB, s *Server) {
	t.Helper()
	client := dialPipe(t, s)
	defer client.Close()
	reply := func(request []byte) []byte {
		_, err := client.Write(framed(request))
		require.NoError(t, err)
		var head [4]byte
		_, err = io.ReadFull(client, head[:])
		require.NoError(t, err)
		answer := make([]byte, binary.BigEndian.Uint32(head[:]))
		_, err = io.ReadFull(client, answer)
		require.NoError(t, err)
		return answer
	}
	require.Len(t, reply(greetingOf(0, nil)), 37)
	bodies := []struct {
		op   Op
		body []byte
	}{
		{OpCreate, recordOf(func(e *encoder) { createBody(e, "/zookeeper/probe", 1) })},
		{OpGetData, recordOf(func(e *encoder) { e.text(configPath); e.bool(true) })},
		{OpCloseSession, nil},
	}
	for i, request := range bodies {
		answer := decoder{buf: reply(requestOf(int32(i), request.op, request.body))}
		require.Equal(t, int32(i), answer.int32())
		answer.int64()
		result := code(answer.int32())
		if request.op == OpCreate {
			require.Contains(t, []code{codeOK, codeNoAuth, codeNodeExists}, result)
			continue
		}
		require.Equal(t, codeOK, result, request.op)
	}
}
