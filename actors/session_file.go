package actors

import (
	"fmt"

	"github.com/turnstile-locks/turnstile/zkconn"
	"github.com/turnstile-locks/turnstile/zkconn/sessionfile"
)

// ErrSessionFileInUse: the session file belongs to a session that lives, of this process or of another.
var ErrSessionFileInUse = sessionfile.ErrInUse

// WithSessionFile keeps the session's id and password in a file while the session lives. A process
// that is started again after a crash closes its predecessor's session, with the same file. The
// predecessor's locks are then free after a few round trips, instead of a session timeout. An
// orderly Close leaves the file empty.
//
// The file is made where there is none; its folder must exist. It must be the user's own, with no
// access for others (mode 0600), a regular file and no symbolic link, on a local disk of the one
// host. In a container, put it on a volume that outlives it. What another host wrote, or this one
// before a restart, is passed over. Package sessionfile has the rules and the reasons.
//
// StartSession fails with an error that wraps zkconn.ErrBadConfig for a file that breaks them,
// before anything is sent, and with ErrSessionFileInUse for one that a living session uses. A file
// that cannot be written later, because the disk is full, is logged, and the session goes on.
//
// Ready waits until the predecessor's session is closed and our own is in the file, for some
// seconds at most after our own session was granted. Closing goes on for as long as the
// predecessor's session timeout after that; then its session has expired by itself. A lock actor
// that does not wait for Ready may find its predecessor's nodes in the queue for a moment.
//
// Locks that are asked for with messages.Acquire.Reclaim are not given up by that: where the predecessor has held any,
// its session is kept instead, for a session timeout from the first restart, and whoever asks with the same label takes the lock over. Then
// it is closed. Package sessionfile says why that is safe.
//
// That the predecessor is dead is known from the file's lock, which the kernel lets go of with the process: no two live
// processes close each other's sessions. What the dead one had sent to others before it died may still arrive
// there: fencing tokens are what protects the resource from that, as they do when a session expires.
func WithSessionFile(path string) SessionOption {
	return func(o *sessionOptions) error {
		if path == "" {
			return fmt.Errorf("session file %q: must not be empty: %w", path, zkconn.ErrBadConfig)
		}
		o.sessionFile = path
		return nil
	}
}

// recordSession puts a session that was granted or renewed into the file, and then tells that the session is ready. It
// does so elsewhere, for the disk may be slow.
func (s *session) recordSession(ev zkconn.Event) {
	ready := func() { s.readyOnce.Do(func() { close(s.ready) }) }
	if s.file == nil {
		ready()
		return
	}
	link := s.link
	s.running.Go(func() {
		s.file.Record(ev.Epoch, ev.SessionID, link.SessionPassword(), ev.Timeout)
		if s.Err() == nil { // which would have ended the waiting
			ready()
		}
	})
}
