package actors

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/turnstile-locks/turnstile/zkconn"
	"github.com/turnstile-locks/turnstile/zkconn/logkeys"
	"github.com/turnstile-locks/turnstile/zkconn/sessionfile"
)

// ErrSessionFileInUse: the session file belongs to a session that lives, of this process or of another.
var ErrSessionFileInUse = sessionfile.ErrInUse

// WithSessionFile keeps session id and password in a file while the session lives, so that a process that is started
// again after a crash need not wait until the session of its predecessor has expired: with the same file it closes that
// session, and what it held is free after a few round trips. An orderly Close leaves the file empty.
//
// The file is made where there is none; its folder must be there. It must be the user's own, with no access for others
// (mode 0600), a regular file and no symbolic link, on a local disk of the one host; in a container, on a volume that
// outlives it. What another host wrote, or this one before it was started again, is passed over. The rules and the
// reasons are in package sessionfile. A file that breaks them makes StartSession fail with
// an error that wraps zkconn.ErrBadConfig, before anything is sent; one that a living session uses with
// ErrSessionFileInUse. A file that cannot be written later, because the disk is full, is logged, and the session goes on.
//
// Ready waits until the predecessor's session is closed, for some seconds at most after our own session was granted, and
// until our own is in the file. Meanwhile, and for as long as the predecessor's session timeout after that, it is tried
// again; then the session has expired by itself. A lock actor that does not wait for Ready may find its predecessor's
// nodes in the queue for a moment.
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

const (
	// predecessorsKept bounds how many sessions of predecessors are remembered when none could be closed: several
	// restarts in a row, each of which got a session of its own. The oldest is forgotten: it expires first.
	predecessorsKept = 4
	// predecessorPatience bounds how long Ready waits for the predecessor's session once we have our own. It takes a
	// few round trips; longer only where servers do not answer.
	predecessorPatience = 5 * time.Second
)

// sessionFile is the session file in use: it closes the sessions that a predecessor left in it, and puts ours in.
// It is used from goroutines, not from the actor: disks may be slow.
type sessionFile struct {
	file *sessionfile.File
	cfg  zkconn.Config
	log  *slog.Logger

	closing context.Context // of the predecessors' sessions
	stop    context.CancelFunc
	settled chan struct{} // closed when there is none left to close, or it was given up

	mu    sync.Mutex
	left  []sessionfile.Record // predecessors' sessions that may still exist
	own   []sessionfile.Record // our own, once there is one
	epoch uint64               // whose session it is
	limit *time.Timer          // on closing, once we have a session
}

// openSessionFile opens the file that an option names, or gives nil when none does.
func openSessionFile(cfg zkconn.Config, opts sessionOptions) (*sessionFile, error) {
	if opts.sessionFile == "" {
		return nil, nil
	}
	if len(cfg.Servers()) == 0 {
		return nil, fmt.Errorf("turnstile: the zero Config: must be made by NewConfig: %w", zkconn.ErrBadConfig)
	}
	file, err := sessionfile.Open(opts.sessionFile)
	if errors.Is(err, ErrSessionFileInUse) {
		return nil, fmt.Errorf("turnstile: %w", err)
	}
	if err != nil {
		return nil, fmt.Errorf("turnstile: %w: %w", zkconn.ErrBadConfig, err)
	}
	if cause := file.Unusable(); cause != nil {
		opts.log.Warn("session file passed over: a session that it names expires by itself", logkeys.Error, cause)
	}
	f := &sessionFile{file: file, cfg: cfg, log: opts.log, settled: make(chan struct{}), left: file.Left()}
	f.left = f.left[max(0, len(f.left)-predecessorsKept):]
	f.closing, f.stop = context.WithCancel(context.Background())
	return f, nil
}

// closePredecessors closes the sessions that were left, all at the same time.
func (f *sessionFile) closePredecessors() {
	defer close(f.settled)
	f.mu.Lock()
	left := slices.Clone(f.left)
	f.mu.Unlock()
	var closing sync.WaitGroup
	for _, r := range left {
		closing.Go(func() { f.closePredecessor(r) })
	}
	closing.Wait()
}

func (f *sessionFile) closePredecessor(r sessionfile.Record) {
	begin := time.Now()
	existed, err := zkconn.CloseSession(f.closing, f.cfg, r.Connect, r.Session, r.Password)
	if err != nil {
		f.log.Warn("session of the predecessor not closed: it expires by itself", logkeys.Session, logkeys.SessionID(r.Session), logkeys.Error, err)
		if !errors.Is(err, zkconn.ErrBadConfig) {
			return // it stays in the file, for a successor that comes soon
		}
	} else {
		f.log.Info("session of the predecessor closed", logkeys.Session, logkeys.SessionID(r.Session), logkeys.Existed, existed,
			logkeys.Took, time.Since(begin))
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	f.left = slices.DeleteFunc(f.left, func(other sessionfile.Record) bool { return other.Session == r.Session })
	if len(f.own) > 0 { // otherwise the next write is that of our own
		f.write()
	}
}

// record puts our own session into the file, unless one of a later epoch is there. From then on the predecessors have no
// more than their session timeouts.
func (f *sessionFile) record(epoch uint64, session int64, password []byte, timeout time.Duration) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if epoch < f.epoch {
		return
	}
	f.epoch = epoch
	f.own = []sessionfile.Record{{
		Session: session, Password: password, Timeout: timeout,
		Connect: strings.Join(f.cfg.Servers(), ",") + f.cfg.Chroot(),
	}}
	f.write()
	if f.limit == nil && len(f.left) > 0 {
		longest := slices.MaxFunc(f.left, func(a, b sessionfile.Record) int { return int(a.Timeout - b.Timeout) })
		f.limit = time.AfterFunc(longest.Timeout, f.stop)
	}
}

// write writes what is known; f.mu is held.
func (f *sessionFile) write() {
	if err := f.file.Write(slices.Concat(f.left, f.own)); err != nil {
		f.log.Warn("session file not written: a successor will have to wait for the session timeout", logkeys.Error, err)
	}
}

// await waits until the predecessors' sessions are closed, or patience ends.
func (f *sessionFile) await() {
	patience := time.NewTimer(predecessorPatience)
	defer patience.Stop()
	select {
	case <-f.settled:
	case <-patience.C:
	}
}

// close takes our own session out of the file, if it has ended, and lets go of the file. Nothing else may be running.
func (f *sessionFile) close(ended bool) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.limit != nil {
		f.limit.Stop()
	}
	f.stop()
	if ended {
		f.own = nil
	}
	f.write()
	if err := f.file.Close(); err != nil {
		f.log.Warn("session file not closed", logkeys.Error, err)
	}
}

// recordSession puts a session that was granted or renewed into the file, and then tells that the session is ready. It
// does so elsewhere, for the disk may be slow.
func (s *session) recordSession(ev zkconn.Event) {
	if s.file == nil {
		s.readyOnce.Do(func() { close(s.ready) })
		return
	}
	link := s.link
	s.running.Go(func() {
		s.file.record(ev.Epoch, ev.SessionID, link.SessionPassword(), ev.Timeout)
		s.file.await()
		if s.Err() == nil { // which would have ended the waiting
			s.readyOnce.Do(func() { close(s.ready) })
		}
	})
}
