package main

import (
	"archive/tar"
	"archive/zip"
	"bytes"
	"compress/gzip"
	"context"
	"fmt"
	"io"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"slices"
)

// archive is one file that people fetch.
type archive struct {
	name    string
	packed  []byte
	program int // bytes of the program
}

// pack builds the program for a system, and puts it into an archive with the files that all have:
// zip for Windows, tar.gz otherwise.
func (r *release) pack(ctx context.Context, goos, goarch string) (*archive, error) {
	folder, err := os.MkdirTemp("", "zklock-dist-")
	if err != nil {
		return nil, err
	}
	defer os.RemoveAll(folder)
	binary := name
	if goos == "windows" {
		binary += ".exe"
	}
	if err := r.build(ctx, goos, goarch, filepath.Join(folder, binary)); err != nil {
		return nil, err
	}
	built, err := os.ReadFile(filepath.Join(folder, binary))
	if err != nil {
		return nil, err
	}
	files := maps.Clone(r.shared)
	files[binary] = built
	within := fmt.Sprintf("%s_%s_%s_%s", name, r.version, goos, goarch)
	a := &archive{name: within + ".tar.gz", program: len(built)}
	write := r.tarball
	if goos == "windows" {
		a.name, write = within+".zip", r.zipped
	}
	var packed bytes.Buffer
	if err := write(&packed, within, files, binary); err != nil {
		return nil, err
	}
	a.packed = packed.Bytes()
	return a, os.WriteFile(filepath.Join(r.out, a.name), a.packed, 0o644)
}

// modeOf gives the permissions of a file: only the program is executable.
func modeOf(as, binary string) fs.FileMode {
	if as == binary {
		return 0o755
	}
	return 0o644
}

// tarball writes files below a folder, in the order of their names, with no owner.
func (r *release) tarball(to io.Writer, within string, files map[string][]byte, binary string) error {
	zipper, err := gzip.NewWriterLevel(to, gzip.BestCompression) // which has no name and no time unless it is given them
	if err != nil {
		return err
	}
	out := tar.NewWriter(zipper)
	for _, as := range slices.Sorted(maps.Keys(files)) {
		err := out.WriteHeader(&tar.Header{Name: within + "/" + as, Mode: int64(modeOf(as, binary)), Size: int64(len(files[as])),
			ModTime: r.time, Format: tar.FormatUSTAR})
		if err != nil {
			return err
		}
		if _, err := out.Write(files[as]); err != nil {
			return err
		}
	}
	if err := out.Close(); err != nil {
		return err
	}
	return zipper.Close()
}

// zipped is the same as a zip file.
func (r *release) zipped(to io.Writer, within string, files map[string][]byte, binary string) error {
	out := zip.NewWriter(to)
	for _, as := range slices.Sorted(maps.Keys(files)) {
		header := &zip.FileHeader{Name: within + "/" + as, Method: zip.Deflate, Modified: r.time}
		header.SetMode(modeOf(as, binary))
		entry, err := out.CreateHeader(header)
		if err != nil {
			return err
		}
		if _, err := entry.Write(files[as]); err != nil {
			return err
		}
	}
	return out.Close()
}
