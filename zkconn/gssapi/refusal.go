package gssapi

import (
	"fmt"

	"github.com/jcmturner/gokrb5/v8/iana/errorcode"
	"github.com/jcmturner/gokrb5/v8/messages"
)

// refusal is a KRB-ERROR, as an error.
type refusal struct{ messages.KRBError }

// Error gives the code, its name and what the sender adds.
func (r *refusal) Error() string {
	text := "error " + errorcode.Lookup(r.ErrorCode)
	if r.EText != "" {
		text += fmt.Sprintf(" (%q)", r.EText)
	}
	return text
}
