//go:build race

package matrix

// underRace: the race detector makes a cell several times as slow, so that one in eight cells of the recipes runs with it.
const underRace = true
