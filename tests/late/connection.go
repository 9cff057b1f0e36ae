package late

import (
	"encoding/binary"
	"io"
	"net"
	"sync"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/turnstile-locks/turnstile/tests/patient"
)

// connection is a connection in ZooKeeper's own protocol, whose answers are counted.
type connection struct {
	t    *testing.T
	conn net.Conn

	mu      sync.Mutex
	answers int
}

func dial(t *testing.T, server string) *connection {
	t.Helper()
	conn, err := net.DialTimeout("tcp", server, patient.Bound)
	require.NoError(t, err)
	r := &connection{t: t, conn: conn}
	var reading sync.WaitGroup
	t.Cleanup(func() { _ = conn.Close(); reading.Wait() })
	reading.Go(r.count)
	return r
}

// greet connects for a new session, and waits for the answer.
func greet(t *testing.T, server string) *connection {
	t.Helper()
	r := dial(t, server)
	r.send(connectRequest(0, make([]byte, 16)))
	r.awaitAnswers(1)
	r.mu.Lock()
	defer r.mu.Unlock()
	r.answers = 0
	return r
}

func (r *connection) send(body []byte) {
	r.t.Helper()
	_, err := r.conn.Write(append(binary.BigEndian.AppendUint32(nil, uint32(len(body))), body...))
	require.NoError(r.t, err)
}

func (r *connection) awaitAnswers(n int) {
	r.t.Helper()
	patient.Eventually(r.t, func() bool { r.mu.Lock(); defer r.mu.Unlock(); return r.answers >= n }, "%d answers", n)
}

// count counts the answers until the connection ends.
func (r *connection) count() {
	for {
		var length [4]byte
		_, err := io.ReadFull(r.conn, length[:])
		if err == nil {
			_, err = io.CopyN(io.Discard, r.conn, int64(binary.BigEndian.Uint32(length[:])))
		}
		if err != nil {
			return
		}
		r.mu.Lock()
		r.answers++
		r.mu.Unlock()
	}
}

func connectRequest(id int64, password []byte) []byte {
	body := binary.BigEndian.AppendUint32(make([]byte, 4+8), uint32(Timeout.Milliseconds()))
	body = binary.BigEndian.AppendUint64(body, uint64(id))
	body = binary.BigEndian.AppendUint32(body, uint32(len(password)))
	return append(append(body, password...), 0)
}

// slowTransaction is a multi of ten checks of the root: a leader reads it much faster than it prepares it.
var slowTransaction = func() []byte {
	const multi, check = 14, 13
	body := binary.BigEndian.AppendUint32(binary.BigEndian.AppendUint32(nil, 1), multi)
	for range 10 {
		body = binary.BigEndian.AppendUint32(body, check)
		body = append(body, 0, 0xff, 0xff, 0xff, 0xff) // more parts come; no error
		body = append(body, 0, 0, 0, 1, '/', 0xff, 0xff, 0xff, 0xff)
	}
	return append(body, 0xff, 0xff, 0xff, 0xff, 1, 0xff, 0xff, 0xff, 0xff)
}()
