// Package cluster tests package actors/gateway/grain, and package actors/activation with grains, in a
// protoactor cluster of several processes, whose members and locks use one ensemble.
package cluster
