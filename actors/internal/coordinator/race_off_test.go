//go:build !race

package coordinator

const race = false
