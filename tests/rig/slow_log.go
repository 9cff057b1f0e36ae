package rig

import (
	"bytes"
	"io"
	"time"
)

// WithSlowLog has the server log what it logs by default, down to level INFO, and read that log at
// so many lines a second at most. Beyond what a pipe holds (a page on Linux), whoever logs waits, as
// with a disk or a collector that does not keep up. A session that expires is a line.
func WithSlowLog(lines int) Option {
	return func(s *settings) {
		s.properties["org.slf4j.simpleLogger.defaultLogLevel"] = "info"
		s.logLines = lines
	}
}

// log is where a server's output goes.
func (s *Server) log() io.Writer {
	if s.settings.logLines == 0 {
		return &s.output
	}
	return &slowLog{to: &s.output, every: time.Second / time.Duration(s.settings.logLines)}
}

// slowLog takes one line each so often.
type slowLog struct {
	to    io.Writer
	every time.Duration
}

// slowPiece is how much is read at once: so little that the pipe is not emptied in one go.
const slowPiece = 512

func (l *slowLog) Write(p []byte) (int, error) {
	time.Sleep(time.Duration(bytes.Count(p, []byte("\n"))) * l.every)
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
