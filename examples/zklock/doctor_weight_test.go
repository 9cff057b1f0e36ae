package main

import (
	"testing"

	"github.com/stretchr/testify/require"
)

// TestHeaviest: as a server of 3.8 writes it.
func TestHeaviest(t *testing.T) {
	session, nodes, weight := heaviest(`SessionTracker dump:
Session Sets (2)/(3):
2 expire at Thu Jan 01 00:10:00 UTC 1970:
	0x1000
	0x1001
ephemeral nodes dump:
Sessions with Ephemerals (2):
0x1000:
	/a/_c_x-lock-0000000001
0x1001:
	/b/_c_x-lock-0000000001
	/b/_c_y-lock-0000000002
Connections dump:
Connections Sets (1)/(1):
`)
	require.Equal(t, "0x1001", session)
	require.Equal(t, 2, nodes)
	require.Equal(t, 2*(4+len("/b/_c_x-lock-0000000001")), weight)

	_, nodes, _ = heaviest("Sessions with Ephemerals (0):\n")
	require.Zero(t, nodes)
}
