// Package leases shows what the holder of a lock is told, and when: by its lease, its context and its listeners, and what
// Unlock, Do and Close say. It meets lost replies, cut connections, silent and slow servers, outages, dead ensembles and
// suspended machines. Most tests that depend on time run in virtual time.
package leases
