package scene

import (
	"testing"

	"github.com/asynkron/protoactor-go/actor"
	"github.com/stretchr/testify/require"
)

// TestSystemsAreSmall: the variable is still the one by which protoactor's maps are cut.
func TestSystemsAreSmall(t *testing.T) {
	for _, bucket := range actor.NewActorSystem().ProcessRegistry.LocalPIDs.LocalPIDs {
		require.Len(t, bucket, 1)
	}
}
