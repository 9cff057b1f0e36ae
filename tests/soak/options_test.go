package main

import (
	"io"
	"testing"

	"github.com/stretchr/testify/require"
)

func TestBadOptionsAreRefused(t *testing.T) {
	for _, args := range [][]string{
		{"-clients", "0"}, {"-members", "2"}, {"-hold", "5ms-1ms"}, {"-hold", "x"}, {"-peer", "other"},
		{"-role", "judge"}, {"-duration", "1ns"}, {"more"}, {"-no-such-flag"},
	} {
		_, err := parse(args, io.Discard)
		require.Error(t, err, args)
	}
	require.Error(t, checkFaults("leader-kill,earthquake"))
	require.NoError(t, checkFaults("leader-kill,client-pause"))
	require.NoError(t, checkFaults("none"))
}

// A client understands what the controller starts it with.
func TestClientArguments(t *testing.T) {
	o, err := parse([]string{"-hold", "1ms-9ms", "-peer", "zklock", "-session", "3s"}, io.Discard)
	require.NoError(t, err)
	client, err := parse(o.arguments("127.0.0.1:1", "127.0.0.1:2,127.0.0.1:3", 2, 1), io.Discard)
	require.NoError(t, err)
	require.Equal(t, roleClient, client.role)
	require.Equal(t, "127.0.0.1:2,127.0.0.1:3", client.servers)
	require.Equal(t, 2, client.client)
	require.Equal(t, 1, client.incarnation)
	require.Equal(t, o.holdMax, client.holdMax)
	require.Equal(t, o.session, client.session)
	require.Equal(t, o.peer, client.peer)
}
