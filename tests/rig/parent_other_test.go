//go:build !linux

package rig

// Elsewhere servers do not die with their parent: see dieWithParent.
const parentVariable = "TURNSTILE_RIG_PARENT"

func beParent() {}
