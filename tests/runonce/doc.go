// Package runonce shows jobs that run once in a period, or once for each instant of a schedule, through lost replies,
// expired sessions, paused and killed processes and wrong clocks.
package runonce
