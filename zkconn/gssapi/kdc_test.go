package gssapi

import (
	"context"
	"errors"
	"net"
	"testing"
	"time"

	"github.com/jcmturner/gokrb5/v8/config"
	"github.com/jcmturner/gokrb5/v8/messages"
	"github.com/stretchr/testify/require"

	"github.com/turnstile-locks/turnstile/zkconn"
)

// Many a realm has SRV records of one network alone.
func TestKDCsOfWhichTheDNSHasSomeRecords(t *testing.T) {
	cfg := config.New()
	cfg.LibDefaults.DNSLookupKDC = true
	k := newKDCs(cfg, time.Now)
	records := map[string][]*net.SRV{}
	k.dns = func(_ context.Context, service, network, realm string) (string, []*net.SRV, error) {
		require.Equal(t, "kerberos", service)
		require.Equal(t, alice.realm, realm)
		if found, has := records[network]; has {
			return "", found, nil
		}
		return "", nil, errors.New("no such host: " + network)
	}
	ways := func() ([]way, error) { return k.ways(t.Context(), alice.realm, 100) }
	_, err := ways()
	require.ErrorIs(t, err, ErrNoKDC)
	require.ErrorContains(t, err, "no such host: tcp")
	require.ErrorContains(t, err, "no such host: udp")

	records["udp"] = []*net.SRV{{Target: "kdc1.example.com.", Port: 88}}
	found, err := ways()
	require.NoError(t, err)
	require.Equal(t, []way{{"udp", "kdc1.example.com:88"}}, found)

	records["tcp"] = []*net.SRV{{Target: "kdc2.example.com.", Port: 88}}
	delete(records, "udp")
	found, err = ways()
	require.NoError(t, err)
	require.Equal(t, []way{{"tcp", "kdc2.example.com:88"}}, found)
}

// Anybody on the way can change the part of a ticket that is not sealed.
func TestTicketOfAnotherNameThanGranted(t *testing.T) {
	server := zkconn.SASLServer{Host: "zk1.example.com", Address: "pipe"}
	granter := "krbtgt/" + alice.realm
	for _, of := range []string{granter, "zookeeper/zk1.example.com"} {
		for name, altered := range map[string][]string{
			"nobody":             {},
			"an empty name":      {""},
			"another":            {"zookeeper", "zk2.example.com"},
			"a granter's":        {"krbtgt", "OTHER.COM"},
			"a part of the name": {"zookeeper"},
		} {
			t.Run(of+" becomes "+name, func(t *testing.T) {
				k, m := newFakeKDC(t, "zookeeper/zk1.example.com")
				k.set(func() {
					k.alter = func(ticket *messages.Ticket) {
						if ticket.SName.PrincipalNameString() == of {
							ticket.SName.NameString = altered
						}
					}
				})
				_, err := m.Start(t.Context(), server)
				require.ErrorIs(t, err, ErrProtocol)
				require.ErrorIs(t, err, zkconn.ErrAuthFailed)
			})
		}
	}
	_, m := newFakeKDC(t, "zookeeper/zk1.example.com")
	_, err := m.Start(t.Context(), server)
	require.NoError(t, err)
}
