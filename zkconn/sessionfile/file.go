package sessionfile

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"os"
	"sync"
)

// The errors of Open. Each comes with the file and the rule.
var (
	// ErrInUse: another session of this process or of another uses the file.
	ErrInUse = errors.New("session file in use")
	// ErrRefused: the file breaks a rule of this package.
	ErrRefused = errors.New("session file refused")
)

// limit bounds what is read and written. A session takes two hundred bytes, and its connect string.
const limit = 64 << 10

// File is a session file, open and locked. Safe for concurrent use.
type File struct {
	path     string
	boot     string
	left     []Record
	unusable error

	mu      sync.Mutex
	file    *os.File
	written []byte // what is in the file; nil for not known
}

// Open opens or makes the file, in an existing folder, and takes its lock. It fails with ErrInUse,
// ErrRefused or the system's error, and then does not change the file.
func Open(path string) (*File, error) {
	boot, err := bootID()
	if err != nil {
		return nil, fmt.Errorf("%w: %s: this run of the kernel cannot be identified: %w", ErrRefused, path, err)
	}
	file, err := openOwn(path)
	if err != nil {
		return nil, err
	}
	f := &File{path: path, boot: boot, file: file}
	if err := f.read(); err != nil {
		_ = file.Close()
		return nil, err
	}
	return f, nil
}

func (f *File) read() error {
	text, err := io.ReadAll(io.LimitReader(f.file, limit+1))
	if err != nil {
		return fmt.Errorf("session file %s: %w", f.path, err)
	}
	if f.left, err = decode(f.boot, text); errors.Is(err, errForeign) {
		return fmt.Errorf("%w: %s: %w; remove it, or name another", ErrRefused, f.path, err)
	} else if err != nil {
		f.unusable = fmt.Errorf("session file %s: %w", f.path, err)
		return nil
	}
	f.written = append([]byte{}, text...)
	return nil
}

// Left gives the sessions in the file when it was opened: those of a predecessor that did not close
// them.
func (f *File) Left() []Record { return f.left }

// Unusable says why the content at the opening is passed over; nil when it is not.
func (f *File) Unusable() error { return f.unusable }

// Write replaces the content, if it is another; no records make it empty. After an error the file
// may hold anything. A content above 64 KiB is refused.
func (f *File) Write(records []Record) error {
	text := encode(f.boot, records)
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.written != nil && bytes.Equal(text, f.written) {
		return nil
	}
	if err := f.replace(text); err != nil {
		return fmt.Errorf("session file %s: %w", f.path, err)
	}
	f.written = append([]byte{}, text...)
	return nil
}

// replace writes first and then cuts off the rest: in between, the newest content can be read.
func (f *File) replace(text []byte) error {
	if len(text) > limit {
		return fmt.Errorf("%d bytes are too many, the limit is %d", len(text), limit)
	}
	f.written = nil
	if len(text) > 0 {
		if _, err := f.file.WriteAt(text, 0); err != nil {
			return err
		}
	}
	return f.file.Truncate(int64(len(text)))
}

// Close releases the lock and closes the file, whose content stays. It may be called again.
func (f *File) Close() error {
	err := errors.Join(unlock(f.file), f.file.Close())
	if err != nil && !errors.Is(err, os.ErrClosed) {
		return fmt.Errorf("session file %s: %w", f.path, err)
	}
	return nil
}
