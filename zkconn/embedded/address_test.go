package embedded

import (
	"net"
	"testing"

	"github.com/stretchr/testify/require"
)

// A client is known by its address as Java writes it.
func TestHostAddress(t *testing.T) {
	for ip, want := range map[string]string{
		"127.0.0.1": "127.0.0.1", "::1": "0:0:0:0:0:0:0:1", "fe80::1:ab": "fe80:0:0:0:0:0:1:ab", "::ffff:10.0.0.1": "10.0.0.1",
	} {
		require.Equal(t, want, hostAddress(net.ParseIP(ip)))
	}
}

// Access lists of the scheme ip name networks of either kind, and one kind is never in the other.
func TestNetworksOfAccessLists(t *testing.T) {
	for rule, clients := range map[string]map[string]bool{
		"::1":           {"0:0:0:0:0:0:0:1": true, "0:0:0:0:0:0:0:2": false, "127.0.0.1": false},
		"fe80::/10":     {"fe80:0:0:0:0:0:0:1": true, "febf:1:2:3:4:5:6:7": true, "fec0:0:0:0:0:0:0:1": false},
		"::/0":          {"2001:db8:0:0:0:0:0:1": true, "10.0.0.1": false},
		"0.0.0.0/0":     {"10.0.0.1": true, "0:0:0:0:0:0:0:1": false},
		"10.128.0.0/9":  {"10.128.0.1": true, "10.255.255.255": true, "10.127.255.255": false},
		"10.0.0.1/32":   {"10.0.0.1": true, "10.0.0.0": false},
		"2001:db8::7/1": {"0:0:0:0:0:0:0:1": true, "8000:0:0:0:0:0:0:1": false},
	} {
		for client, want := range clients {
			list := []access{{permRead, identity{"ip", rule}}}
			require.Equal(t, want, allowed(list, permRead, []identity{{"ip", client}}), "%s in %s", client, rule)
		}
	}
}
