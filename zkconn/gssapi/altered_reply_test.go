package gssapi

import (
	"testing"

	"github.com/jcmturner/gokrb5/v8/messages"
	"github.com/stretchr/testify/require"

	"github.com/turnstile-locks/turnstile/zkconn"
)

// What stands in a ticket outside its sealed part can be changed by anybody on the way.
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
