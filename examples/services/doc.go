// Package services has the programs of the guide on services (locks/guides, "What services do with locks"), whole:
// what each does is a function of its caller's, and what is left are the few lines that deal with locking. Tests run
// them, with several replicas each, and count those lines: ten at most.
package services
