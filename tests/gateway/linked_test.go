package gateway

import (
	"os/exec"
	"testing"

	"github.com/stretchr/testify/require"
)

// TestLocksLinkNoGRPC: a program that imports only package locks does not pay for gateways.
func TestLocksLinkNoGRPC(t *testing.T) {
	const module = "github.com/turnstile-locks/turnstile/"
	deps := func(packages ...string) string {
		out, err := exec.Command("go", append([]string{"list", "-deps"}, packages...)...).Output()
		require.NoError(t, err)
		return string(out)
	}
	light := deps(module+"locks", module+"actors", module+"messages", module+"actors/actorstest")
	for _, heavy := range []string{"google.golang.org/grpc", "protoactor-go/remote", module + "actors/gateway", "protocompile"} {
		require.NotContains(t, light, heavy)
	}
	gateway := deps(module + "actors/gateway")
	require.Contains(t, gateway, "google.golang.org/grpc", "or else this test shows nothing")
	require.NotContains(t, gateway, "protocompile")
}
