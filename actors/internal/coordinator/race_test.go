//go:build race

package coordinator

// race: the race detector is on. This code has no goroutines, and takes ten times as long with it.
const race = true
