package interop

import "testing"

// Readers and writers of Curator's InterProcessReadWriteLock, and writers of kazoo's with Curator's
// names. kazoo's readers stay away: see TestKazooReaderWaitsForAWriterBehindIt.
func TestReadWriteOnOnePath(t *testing.T) {
	mix{path: "/mixed/readwrite", bar: "_c_bar-__WRIT__", members: []member{
		{name: "curator", worker: curator, recipe: ReadWrite},
		{name: "kazoo", worker: kazooed, recipe: Write, names: CuratorNames},
	}}.run(t)
}
