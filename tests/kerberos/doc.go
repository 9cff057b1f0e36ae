// Package kerberos tests locks on ensembles that know their clients by Kerberos: a real KDC, real
// ZooKeeper servers and the Java client, on loopback. The KDC is started by package rig/kdc.
package kerberos
