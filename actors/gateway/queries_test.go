package gateway

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	"google.golang.org/protobuf/proto"

	"github.com/turnstile-locks/turnstile/actors/gateway/wire"
	"github.com/turnstile-locks/turnstile/messages"
)

// TestLongAnswerIsRefused: gRPC would end the stream for an answer above 4 MiB.
func TestLongAnswerIsRefused(t *testing.T) {
	queue := &messages.Queue{Path: "/long"}
	for range 900 {
		queue.Contenders = append(queue.Contenders, messages.Contender{Label: strings.Repeat("x", 1024)})
	}
	short := wire.FromAnswer("q", queue)
	require.Same(t, short, bounded(short))
	queue.Contenders = append(queue.Contenders, queue.Contenders...)
	refused := bounded(wire.FromAnswer("q", queue))
	require.Nil(t, refused.Messages())
	require.Equal(t, "q", refused.GetId())
	require.Equal(t, messages.ReasonRefused, refused.Refusal().Reason)
	require.Contains(t, refused.Refusal().Detail, "a gateway sends up to 1048576")
	require.Less(t, proto.Size(refused), 1000)
}
