//go:build !linux

package matrix

var pausedCells = absurd(paused, "the test stops a process and looks in /proc whether it stands, as on Linux", requests...)
