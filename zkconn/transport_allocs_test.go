package zkconn

import (
	"testing"

	"github.com/stretchr/testify/require"
)

// frameAllocs bounds the allocations of the transport for a frame. It allocates nothing but the buffers of the outbox,
// which are as large as the frames that wait in them and are used again. The bound lets them grow a few times in a run.
const frameAllocs = 0.1

func TestTransportAllocates(t *testing.T) {
	const frames = 1000
	transport, buffer, request := established(t, 80), make([]byte, 1<<10), deleteRequest()
	for name, one := range map[string]func(){
		"read": func() { readFrameInto(t, transport, buffer) },
		"write": func() {
			_, err := transport.Write(request)
			if err != nil {
				t.Error(err)
			}
		},
	} {
		t.Run(name, func(t *testing.T) {
			each := testing.AllocsPerRun(3, func() {
				for range frames {
					one()
				}
			}) / frames
			t.Logf("%.3f allocations a frame", each)
			require.LessOrEqual(t, each, frameAllocs)
		})
	}
}
