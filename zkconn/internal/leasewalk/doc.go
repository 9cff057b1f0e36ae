// Package leasewalk is a model checker.
package leasewalk
