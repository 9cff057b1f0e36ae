package gssapi

import (
	"context"
	"os/exec"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

// A program that does not import this package links nothing of Kerberos.
func TestNobodyElseLinksKerberos(t *testing.T) {
	ctx, cancel := context.WithTimeout(t.Context(), 5*time.Minute)
	defer cancel()
	const module = "github.com/turnstile-locks/turnstile/"
	list := func(packages ...string) string {
		output, err := exec.CommandContext(ctx, "go", append([]string{"list", "-deps"}, packages...)...).CombinedOutput()
		require.NoError(t, err, string(output))
		return string(output)
	}
	for _, library := range []string{"jcmturner/", "hashicorp/go-uuid"} {
		require.NotContains(t, list(module+"locks", module+"actors", module+"zkconn", module+"messages",
			module+"zkconn/digestmd5", module+"zkconn/embedded", module+"actors/gateway", module+"actors/actorstest"), library)
	}
	require.Contains(t, list(module+"zkconn/gssapi"), "jcmturner/gokrb5", "or else this test shows nothing")
}
