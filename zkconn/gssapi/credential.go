package gssapi

import (
	"errors"
	"fmt"
	"time"

	"github.com/jcmturner/gokrb5/v8/messages"
	"github.com/jcmturner/gokrb5/v8/types"
)

// longestMargin is how long before its end a ticket is fetched anew, at most: what servers and KDCs
// allow clocks to differ.
const longestMargin = 5 * time.Minute

// credential is a ticket and what its owner has to know of it. Invariant: the ticket's name is not empty.
type credential struct {
	client     principal
	ticket     messages.Ticket
	key        types.EncryptionKey // the session key
	start, end time.Time
}

// valid tells whether the ticket has not expired.
func (c *credential) valid(now time.Time) bool { return now.Before(c.end) }

// fresh tells whether the ticket will last for a while: a tenth of its life, and five minutes at most.
func (c *credential) fresh(now time.Time) bool {
	margin := min(c.end.Sub(c.start)/10, longestMargin)
	return now.Before(c.end.Add(-margin))
}

// checkTicket compares what a ticket says in the open with what the KDC has sealed: the library's checks pass over the
// names of tickets, and anybody on the way can change them.
func checkTicket(reply *messages.KDCRepFields) error {
	open, sealed := reply.Ticket, reply.DecryptedEncPart
	switch {
	case len(sealed.SName.NameString) == 0:
		return errors.New("a ticket for nobody")
	case !open.SName.Equal(sealed.SName) || open.Realm != sealed.SRealm:
		return fmt.Errorf("a ticket for %q, where one for %q was granted",
			principal{open.SName, open.Realm}, principal{sealed.SName, sealed.SRealm})
	}
	return nil
}

// forRealm gives the realm in which a ticket-granting ticket is of use.
func (c *credential) forRealm() string {
	names := c.ticket.SName.NameString
	return names[len(names)-1]
}

// grantsTickets tells whether it is a ticket-granting ticket.
func (c *credential) grantsTickets() bool {
	names := c.ticket.SName.NameString
	return len(names) == 2 && names[0] == "krbtgt"
}

// credentialOf takes what a KDC has granted.
func credentialOf(client principal, ticket messages.Ticket, granted messages.EncKDCRepPart) *credential {
	start := granted.StartTime
	if start.IsZero() {
		start = granted.AuthTime
	}
	return &credential{client: client, ticket: ticket, key: granted.Key, start: start, end: granted.EndTime}
}
