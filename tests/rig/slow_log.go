package rig

import (
	"bytes"
	"io"
	"sync/atomic"
	"time"
)

// WithSlowLog has the server log what it logs by default, down to level INFO, and read that log at
// so many lines a second at most. When the pipe is full (a page on Linux), threads that log wait,
// as with a disk or a collector that does not keep up. A session that expires is a line.
func WithSlowLog(lines int) Option {
	return func(s *settings) {
		s.properties["org.slf4j.simpleLogger.defaultLogLevel"] = "info"
		s.braked, s.logLines = true, lines
	}
}

// WithLogOfExpiries has the server log a line for each session that expires. [Server.SlowLog] can have it wait for each of
// them; until then the log takes as many as there are.
func WithLogOfExpiries() Option {
	return func(s *settings) {
		s.properties["org.slf4j.simpleLogger.log.org.apache.zookeeper.server.ZooKeeperServer"] = "info"
		s.braked = true
	}
}

// SlowLog has the log take so many lines a second at most from now on, or any number where lines is
// 0. The server has [WithSlowLog] or [WithLogOfExpiries].
func (s *Server) SlowLog(lines int) {
	var pause time.Duration
	if lines > 0 {
		pause = time.Second / time.Duration(lines)
	}
	s.linePause.Store(int64(pause))
}

// log gives the writer of a server's output.
func (s *Server) log() io.Writer {
	if !s.settings.braked {
		return &s.output
	}
	return &slowLog{to: &s.output, pause: &s.linePause}
}

// slowLog takes one line each so often.
type slowLog struct {
	to    io.Writer
	pause *atomic.Int64 // nanoseconds a line
}

// slowPiece is the number of bytes that are read at once: so few that the pipe is not emptied in
// one go.
const slowPiece = 512

func (l *slowLog) Write(p []byte) (int, error) {
	time.Sleep(time.Duration(int64(bytes.Count(p, []byte("\n"))) * l.pause.Load()))
	return l.to.Write(p)
}

// ReadFrom reads in small pieces. io.Copy calls it where it would read 32 KiB at once.
func (l *slowLog) ReadFrom(from io.Reader) (n int64, err error) {
	narrow(from)
	piece := make([]byte, slowPiece)
	for {
		got, err := from.Read(piece)
		n += int64(got)
		if got > 0 {
			if _, err := l.Write(piece[:got]); err != nil {
				return n, err
			}
		}
		switch {
		case err == io.EOF:
			return n, nil
		case err != nil:
			return n, err
		}
	}
}
