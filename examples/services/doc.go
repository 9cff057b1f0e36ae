// Package services has the programs of the guide on services, whole (locks/guides/services.md). Each
// takes its work as a function, so the few lines that deal with locking remain. Tests run the programs,
// with several replicas each, and count those lines: ten at most.
package services
