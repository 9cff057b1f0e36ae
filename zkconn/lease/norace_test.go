//go:build !race

package lease_test

const underRace = false
