package main

import (
	"bytes"
	"io"
	"net"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/turnstile-locks/turnstile/tests/rig"
)

// A short run on a real server gives a line for each length. How many leases survive depends on the machine.
func TestOutagesAreMeasured(t *testing.T) {
	rig.Require(t)
	for _, how := range []string{"refuse", "hang-up"} {
		o, err := parse([]string{"-servers", "one", "-timeouts", "2s", "-lengths", "0.05,0.5", "-sessions", "3", "-rounds", "1",
			"-how", how, "-dead", "1", "-survive", "0"}, t.Output())
		require.NoError(t, err)
		var lines bytes.Buffer
		require.NoError(t, measure(t.Context(), o, &lines))
		t.Log("\n" + lines.String())
		require.Regexp(t, `(?m)^one +2s +0\.05 T +\d+ +\d+ `, lines.String())
		require.Regexp(t, `(?m)^one +2s +0\.50 T +\d+ +\d+ `, lines.String())
	}
}

func TestBadFlags(t *testing.T) {
	for _, args := range [][]string{
		{"-timeouts", "4"}, {"-timeouts", "10ms"}, {"-lengths", "2"}, {"-servers", "two"}, {"-how", "nicely"}, {"-sessions", "0"}, {"more"},
	} {
		_, err := parse(args, io.Discard)
		require.Error(t, err, args)
	}
}

// A relay passes bytes, and in an outage resets what is open and refuses what is new.
func TestRelay(t *testing.T) {
	echo, err := net.Listen("tcp", "127.0.0.1:0")
	require.NoError(t, err)
	defer func() { _ = echo.Close() }()
	go func() {
		for {
			conn, err := echo.Accept()
			if err != nil {
				return
			}
			go func() { _, _ = io.Copy(conn, conn) }()
		}
	}()
	r, err := newRelay(echo.Addr().String())
	require.NoError(t, err)
	defer r.close()
	answered := func() (net.Conn, error) {
		conn, err := net.Dial("tcp", r.addr)
		if err != nil {
			return nil, err
		}
		t.Cleanup(func() { _ = conn.Close() })
		require.NoError(t, conn.SetDeadline(time.Now().Add(time.Minute)))
		if _, err := conn.Write([]byte("x")); err != nil {
			return conn, err
		}
		_, err = io.ReadFull(conn, make([]byte, 1))
		return conn, err
	}
	for _, hangUp := range []bool{false, true} {
		conn, err := answered()
		require.NoError(t, err)
		r.down(hangUp)
		_, err = conn.Read(make([]byte, 1))
		require.Error(t, err)
		_, err = answered()
		require.Error(t, err)
		require.NoError(t, r.up())
		_, err = answered()
		require.NoError(t, err)
	}
}
