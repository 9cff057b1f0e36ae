package main

import (
	"bytes"
	"encoding/binary"
	"io"
	"net"
	"os"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/turnstile-locks/turnstile/tests/rig"
)

// TestScenes: a short run with few clients on real servers gives a line for each thing that is measured.
func TestScenes(t *testing.T) {
	rig.Require(t)
	for scene, want := range map[string][]string{
		sceneOutage: {`(?m)^holders +0\.50 T +\d+ +\d+ `, `(?m)^idle +0\.50 T +\d+ .*locks: begun \d+, requests \d+`},
		sceneLeader: {`(?m)^change of leader, 4 idle clients, T = 2s: \d+ sessions ended`, `(?m)^  then a lock each`},
		sceneSlow:   {`(?m)^0\.050 T +[1-9]\d* +\d+ `},
	} {
		t.Run(scene, func(t *testing.T) {
			t.Parallel()
			o, err := parse([]string{"-scenes", scene, "-clients", "4", "-each", "2", "-timeout", "2s", "-tick", "1s", "-lengths", "0.5",
				"-trips", "1/20", "-measure", "3s"}, t.Output())
			require.NoError(t, err)
			var lines bytes.Buffer
			require.NoError(t, measure(t.Context(), o, &lines))
			t.Log("\n" + lines.String())
			for _, line := range want {
				require.Regexp(t, line, lines.String())
			}
			require.NotContains(t, lines.String(), "not back")
		})
	}
}

func TestBadFlags(t *testing.T) {
	for _, args := range [][]string{
		{"-scenes", "all"}, {"-clients", "0"}, {"-timeout", "10ms"}, {"-lengths", "x"}, {"-trips", "1/0"}, {"-trips", "a/b"},
		{"-kinds", "busy"}, {"-measure", "0"}, {"-each", "0"}, {"more"},
	} {
		_, err := parse(args, io.Discard)
		require.Error(t, err, args)
	}
}

// frame is a frame with these numbers behind its length.
func frame(numbers ...any) []byte {
	var body []byte
	for _, n := range numbers {
		body, _ = binary.Append(body, binary.BigEndian, n)
	}
	return append(binary.BigEndian.AppendUint32(nil, uint32(len(body))), body...)
}

// TestRelay: frames are delayed and counted; in an outage what is open is reset and what is new refused.
func TestRelay(t *testing.T) {
	server, err := net.Listen("tcp", "127.0.0.1:0")
	require.NoError(t, err)
	defer func() { _ = server.Close() }()
	const session, delay = int64(0x77), 50 * time.Millisecond
	go func() { // grants what is asked for, and returns all else
		for {
			conn, err := server.Accept()
			if err != nil {
				return
			}
			go func() {
				defer func() { _ = conn.Close() }()
				if _, err := readFrame(conn); err != nil {
					return
				}
				_, _ = conn.Write(frame(int32(0), int32(2000), session, int32(0)))
				_, _ = io.Copy(conn, conn)
			}()
		}
	}()
	c := &counts{}
	r, err := newRelay(server.Addr().String(), delay, c)
	require.NoError(t, err)
	defer r.close()
	connect := func(asked int64) net.Conn {
		conn, err := net.Dial("tcp", r.addr)
		require.NoError(t, err)
		t.Cleanup(func() { _ = conn.Close() })
		require.NoError(t, conn.SetDeadline(time.Now().Add(time.Minute)))
		_, err = conn.Write(frame(int32(0), int64(0), int32(2000), asked, int32(0)))
		require.NoError(t, err)
		reply, err := readFrame(conn)
		require.NoError(t, err)
		require.Equal(t, session, grantedSession(reply))
		return conn
	}
	conn := connect(0)
	begun := time.Now()
	request := frame(int32(1), int32(rig.OpMulti))
	_, err = conn.Write(request)
	require.NoError(t, err)
	back, err := readFrame(conn)
	require.NoError(t, err)
	require.Equal(t, request, back)
	require.GreaterOrEqual(t, time.Since(begun), 2*delay)
	connect(session)

	before := c.look()
	require.Equal(t, passed{connects: 2, begun: 1, renewed: 1, requests: map[rig.OpCode]int{rig.OpMulti: 1}}, before)
	require.Equal(t, 3, before.frames())
	require.Equal(t, "multi 1", before.kinds())

	r.down()
	_, err = readFrame(conn)
	require.Error(t, err)
	_, err = net.Dial("tcp", r.addr)
	require.Error(t, err)
	require.NoError(t, r.up())
	connect(session)
	require.Equal(t, passed{connects: 1, renewed: 1, requests: map[rig.OpCode]int{}}, c.since(before))
}

func TestProcessorTime(t *testing.T) {
	before, err := processorTime(os.Getpid())
	require.NoError(t, err)
	for begun := time.Now(); time.Since(begun) < 50*time.Millisecond; {
		_ = frame(int32(0))
	}
	after, err := processorTime(os.Getpid())
	require.NoError(t, err)
	require.GreaterOrEqual(t, after, before)
	_, err = processorTime(-1)
	require.Error(t, err)
}
