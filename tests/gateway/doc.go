// Package gateway tests locks over gateways with real actor systems, protoactor's remote on
// loopback, and a network between them that can be cut or silenced in each direction.
package gateway
