// Package gateway tests locks over gateways: with real actor systems, protoactor's remote on loopback, and a network
// between them that can be cut or silenced in each direction; and, where nothing depends on that, with two gateways of one
// system in virtual time. Package faces has what is the same over a gateway as by a session.
package gateway
