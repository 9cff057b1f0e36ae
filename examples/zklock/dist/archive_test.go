package main

import (
	"archive/tar"
	"archive/zip"
	"bytes"
	"compress/gzip"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

// packed is a file of an archive.
type packed struct {
	text string
	mode fs.FileMode
	time time.Time
}

// TestArchives: both kinds of archive have every file, below one folder, with its text, its
// permissions and the time of the release, and the same bytes each time.
func TestArchives(t *testing.T) {
	r := &release{version: "v9.8.7", time: time.Unix(1790000000, 0).UTC()}
	files := map[string][]byte{"zklock.exe": []byte("program"), "LICENSE": []byte("licence"),
		"man/zklock.1": []byte("manual")}
	want := map[string]packed{
		"folder/zklock.exe":   {"program", 0o755, r.time},
		"folder/LICENSE":      {"licence", 0o644, r.time},
		"folder/man/zklock.1": {"manual", 0o644, r.time},
	}
	for name, kind := range map[string]struct {
		write func(io.Writer, string, map[string][]byte, string) error
		read  func(*testing.T, []byte) map[string]packed
	}{"zip": {r.zipped, unzip}, "tar.gz": {r.tarball, untar}} {
		var first, second bytes.Buffer
		require.NoError(t, kind.write(&first, "folder", files, "zklock.exe"))
		require.NoError(t, kind.write(&second, "folder", files, "zklock.exe"))
		require.Equal(t, first.Bytes(), second.Bytes(), name)
		require.Equal(t, want, kind.read(t, first.Bytes()), name)
	}
}

func unzip(t *testing.T, archive []byte) map[string]packed {
	t.Helper()
	reader, err := zip.NewReader(bytes.NewReader(archive), int64(len(archive)))
	require.NoError(t, err)
	all := map[string]packed{}
	for _, f := range reader.File {
		file, err := f.Open()
		require.NoError(t, err)
		text, err := io.ReadAll(file)
		require.NoError(t, err)
		require.NoError(t, file.Close())
		all[f.Name] = packed{string(text), f.Mode(), f.Modified.UTC()}
	}
	return all
}

func untar(t *testing.T, archive []byte) map[string]packed {
	t.Helper()
	zipped, err := gzip.NewReader(bytes.NewReader(archive))
	require.NoError(t, err)
	all := map[string]packed{}
	for reader := tar.NewReader(zipped); ; {
		header, err := reader.Next()
		if err == io.EOF {
			return all
		}
		require.NoError(t, err)
		text, err := io.ReadAll(reader)
		require.NoError(t, err)
		all[header.Name] = packed{string(text), fs.FileMode(header.Mode), header.ModTime.UTC()}
	}
}

// TestPlatforms: the systems that are built for are those that the page names, on both processors.
func TestPlatforms(t *testing.T) {
	var all []string
	for _, system := range []string{"linux", "darwin", "windows"} {
		for _, processor := range []string{"amd64", "arm64"} {
			all = append(all, system+"/"+processor)
		}
	}
	require.Equal(t, all, strings.Split(platforms, ","))
	page, err := os.ReadFile(filepath.Join("..", "README.md"))
	require.NoError(t, err)
	require.Contains(t, strings.Join(strings.Fields(string(page)), " "),
		"for each of linux, darwin and windows, on amd64 and arm64")
}
