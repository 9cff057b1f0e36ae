// Package sasl shows what locks do on servers that speak SASL, DIGEST-MD5 here: real ones with a JAAS file, alone
// and as an ensemble of three, and the embedded one.
//
// A test is a list of stories, each told on every kind of server. alice and bob are in the JAAS file, eve is not.
// Each story has a chroot of its own.
package sasl
