//go:build race

package walk

// underRace: the race detector makes a walk some ten times as slow, and finds nothing in one, which is one goroutine.
// It runs tiny plans side by side, which share the tables of the packages that they walk.
const underRace = true
