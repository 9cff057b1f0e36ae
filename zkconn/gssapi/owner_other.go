//go:build !unix

package gssapi

import "io/fs"

// ownerOf: os.Getuid gives the same there.
func ownerOf(fs.FileInfo) int { return anybody }
