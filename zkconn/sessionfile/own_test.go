//go:build linux || darwin

package sessionfile

import (
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"
	"golang.org/x/sys/unix"
)

// TestCloseUnlocksWhatAChildHas: a child that is being forked has the file until it runs its program. The file can be
// opened again meanwhile.
func TestCloseUnlocksWhatAChildHas(t *testing.T) {
	path := filepath.Join(t.TempDir(), "session")
	first, err := Open(path)
	require.NoError(t, err)
	var child int
	require.NoError(t, control(first.file, func(fd int) (err error) {
		child, err = unix.Dup(fd)
		return err
	}))
	defer unix.Close(child)
	require.NoError(t, first.Close())
	require.NoError(t, first.Close(), "again")
	second, err := Open(path)
	require.NoError(t, err)
	require.NoError(t, second.Close())
}
