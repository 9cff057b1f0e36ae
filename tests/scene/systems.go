package scene

import _ "unsafe" // for go:linkname

// shards is the number of parts of each of the 1 024 maps in which protoactor keeps the actors of a system. An empty system
// has 32 768 parts then, which take 4.5 MB and as long to make as a hundred locks. Tests make thousands of systems with a
// handful of actors each. The module is none that go.mod requires directly, so its variable is named by its symbol.
//
//go:linkname shards github.com/orcaman/concurrent-map.SHARD_COUNT
var shards int

func init() { shards = 1 }
