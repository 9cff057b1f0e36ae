// Package services has the programs of the guide on services, whole (locks/guides, "What services
// do with locks"). The work of each is a function of its caller's. What is left are the few lines
// that deal with locking. Tests run them, with several replicas each, and count those lines: ten at
// most.
package services
