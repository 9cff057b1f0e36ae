package embedded

import (
	"bufio"
	"encoding/binary"
	"io"
)

// readFrame reads one frame, into the old one's memory where that suffices. A frame that is too long, or
// negative, ends the connection.
func readFrame(in *bufio.Reader, old []byte, limit int) ([]byte, error) {
	var head [4]byte
	if _, err := io.ReadFull(in, head[:]); err != nil {
		return nil, err
	}
	n := int32(binary.BigEndian.Uint32(head[:]))
	if n < 0 || int(n) > limit {
		return nil, errMalformed
	}
	return fill(in, old, int(n))
}

// chunk is how much memory a frame gets before its bytes have come, so that a length alone costs nothing.
const chunk = 1 << 16

func fill(in *bufio.Reader, old []byte, n int) ([]byte, error) {
	frame := old[:0]
	if cap(frame) > chunk && n <= chunk {
		frame = nil // do not keep what one large request needed
	}
	for len(frame) < n {
		from := len(frame)
		to := min(n, from+chunk)
		if to > cap(frame) {
			frame = append(frame[:from], make([]byte, to-from)...)
		}
		frame = frame[:to]
		if _, err := io.ReadFull(in, frame[from:]); err != nil {
			return nil, err
		}
	}
	return frame, nil
}

// frameBuffered says whether the next frame has come as a whole.
func frameBuffered(in *bufio.Reader) bool {
	if in.Buffered() < 4 {
		return false
	}
	head, _ := in.Peek(4)
	return uint64(in.Buffered()) >= 4+uint64(binary.BigEndian.Uint32(head))
}
