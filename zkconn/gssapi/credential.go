package gssapi

import (
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/jcmturner/gokrb5/v8/iana/etypeID"
	"github.com/jcmturner/gokrb5/v8/iana/nametype"
	"github.com/jcmturner/gokrb5/v8/messages"
	"github.com/jcmturner/gokrb5/v8/types"
)

// principal is a name in a realm.
type principal struct {
	name  types.PrincipalName
	realm string
}

// parsePrincipal reads name[/instance][@REALM]; the realm is empty where the text has none.
func parsePrincipal(text string) principal {
	name, realm := types.ParseSPNString(text)
	return principal{name: name, realm: realm}
}

// ticketGranter is the principal of a realm's ticket-granting service, as another realm knows it.
func ticketGranter(of, at string) principal {
	return principal{types.PrincipalName{NameType: nametype.KRB_NT_SRV_INST, NameString: []string{"krbtgt", of}}, at}
}

// String gives the usual notation.
func (p principal) String() string { return p.name.PrincipalNameString() + "@" + p.realm }

func (p principal) valid() bool {
	for _, part := range p.name.NameString {
		if part == "" {
			return false
		}
	}
	return len(p.name.NameString) > 0 && p.realm != "" && !strings.ContainsAny(p.String(), " \t\r\n\x00")
}

// longestMargin bounds how long before its end a ticket is fetched anew. Servers and KDCs allow
// clocks to differ by that much.
const longestMargin = 5 * time.Minute

// credential is a ticket with its session key, its owner and its times. Invariant: the ticket's
// name is not empty.
type credential struct {
	client     principal
	ticket     messages.Ticket
	key        types.EncryptionKey // the session key
	start, end time.Time
}

// valid reports whether the ticket has not expired.
func (c *credential) valid(now time.Time) bool { return now.Before(c.end) }

// fresh reports whether the ticket will last for a while: a tenth of its life, and five minutes at most.
func (c *credential) fresh(now time.Time) bool {
	margin := min(c.end.Sub(c.start)/10, longestMargin)
	return now.Before(c.end.Add(-margin))
}

// checkTicket compares the ticket's open name with the one that the KDC has sealed: the library
// does not check the names of tickets, and anybody on the way can change them.
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

// grantsTickets reports whether it is a ticket-granting ticket.
func (c *credential) grantsTickets() bool {
	names := c.ticket.SName.NameString
	return len(names) == 2 && names[0] == "krbtgt"
}

// credentialOf makes a credential of a KDC's grant.
func credentialOf(client principal, ticket messages.Ticket, granted messages.EncKDCRepPart) *credential {
	start := granted.StartTime
	if start.IsZero() {
		start = granted.AuthTime
	}
	return &credential{client: client, ticket: ticket, key: granted.Key, start: start, end: granted.EndTime}
}

// supportedTypes are the encryption types that a session key may have, the strongest first. Tokens
// of others are made after RFC 1964, which this package does not speak.
var supportedTypes = []int32{
	etypeID.AES256_CTS_HMAC_SHA384_192,
	etypeID.AES128_CTS_HMAC_SHA256_128,
	etypeID.AES256_CTS_HMAC_SHA1_96,
	etypeID.AES128_CTS_HMAC_SHA1_96,
}

var namesOfTypes = map[int32]string{
	etypeID.AES256_CTS_HMAC_SHA384_192: "aes256-cts-hmac-sha384-192",
	etypeID.AES128_CTS_HMAC_SHA256_128: "aes128-cts-hmac-sha256-128",
	etypeID.AES256_CTS_HMAC_SHA1_96:    "aes256-cts-hmac-sha1-96",
	etypeID.AES128_CTS_HMAC_SHA1_96:    "aes128-cts-hmac-sha1-96",
	etypeID.DES3_CBC_SHA1_KD:           "des3-cbc-sha1",
	etypeID.RC4_HMAC:                   "arcfour-hmac",
	etypeID.DES_CBC_CRC:                "des-cbc-crc",
	etypeID.DES_CBC_MD5:                "des-cbc-md5",
}

func supported(enctype int32) bool { return slices.Contains(supportedTypes, enctype) }

func typeName(enctype int32) string {
	if name, known := namesOfTypes[enctype]; known {
		return name
	}
	return "encryption type " + strconv.Itoa(int(enctype))
}

func typeNames(enctypes []int32) string {
	names := make([]string, len(enctypes))
	for i, enctype := range enctypes {
		names[i] = typeName(enctype)
	}
	return strings.Join(names, ", ")
}

// among gives those of our types that are also in the list, in our order.
func among(list []int32) []int32 {
	return slices.DeleteFunc(slices.Clone(supportedTypes), func(enctype int32) bool {
		return !slices.Contains(list, enctype)
	})
}
