//go:build !race

package steady

const withRace = false
