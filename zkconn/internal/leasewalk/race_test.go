//go:build race

package leasewalk

const underRace = true
