package tests

import (
	"bytes"
	"go/format"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// TestEveryFileIsFormatted: every file is as gofmt writes it, in other modules, too. It is a test so that make test does not
// ask again while no file has changed: Go keeps the result of a test with the files that it opened.
func TestEveryFileIsFormatted(t *testing.T) {
	err := filepath.WalkDir("..", func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			if path != ".." && strings.HasPrefix(d.Name(), ".") {
				return fs.SkipDir
			}
			return err
		}
		if filepath.Ext(path) != ".go" || strings.HasPrefix(d.Name(), ".") {
			return nil
		}
		is, err := os.ReadFile(path)
		if err != nil {
			return err
		}
		if should, err := format.Source(is); err != nil {
			t.Error(path, err)
		} else if !bytes.Equal(is, should) {
			t.Error(path, "is not as gofmt writes it")
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
}
