//go:build race

package matrix

// underRace: the race detector makes a cell seven times as slow, and one in four of the recipes shows it every line.
const underRace = true
