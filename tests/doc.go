// Package tests holds the tests that need more than one package: the behaviour of locks on real
// servers, under faults, beside other clients. They need Java and Debian's zookeeper package, and say
// so when they skip; make test lets none skip.
package tests
