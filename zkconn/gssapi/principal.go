package gssapi

import (
	"strings"

	"github.com/jcmturner/gokrb5/v8/iana/nametype"
	"github.com/jcmturner/gokrb5/v8/types"
)

// principal is a name in a realm.
type principal struct {
	name  types.PrincipalName
	realm string
}

// parsePrincipal reads name[/instance][@REALM]; the realm is empty where there is none.
func parsePrincipal(text string) principal {
	name, realm := types.ParseSPNString(text)
	return principal{name: name, realm: realm}
}

// ticketGranter is the principal of a realm's ticket-granting service, as another realm knows it.
func ticketGranter(of, at string) principal {
	return principal{types.PrincipalName{NameType: nametype.KRB_NT_SRV_INST, NameString: []string{"krbtgt", of}}, at}
}

// String is how people write it.
func (p principal) String() string { return p.name.PrincipalNameString() + "@" + p.realm }

func (p principal) valid() bool {
	for _, part := range p.name.NameString {
		if part == "" {
			return false
		}
	}
	return len(p.name.NameString) > 0 && p.realm != "" && !strings.ContainsAny(p.String(), " \t\r\n\x00")
}
