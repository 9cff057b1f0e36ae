package gssapi

import (
	"github.com/jcmturner/gokrb5/v8/iana/errorcode"
)

// clientRefusals and serviceRefusals are what codes mean that concern one of the principals.
var (
	clientRefusals = map[int32]string{
		errorcode.KDC_ERR_C_PRINCIPAL_UNKNOWN: "its name or realm is wrong, or it was deleted",
		errorcode.KDC_ERR_NAME_EXP:            "its entry has expired",
		errorcode.KDC_ERR_CLIENT_REVOKED:      "its entry is locked or disabled",
		errorcode.KDC_ERR_CLIENT_NOTYET:       "its entry is not valid yet",
		errorcode.KDC_ERR_WRONG_REALM:         "it belongs to another realm",
	}
	serviceRefusals = map[int32]string{
		errorcode.KDC_ERR_S_PRINCIPAL_UNKNOWN:  "the server may be known by another name or host, see WithServerPrincipal",
		errorcode.KDC_ERR_SERVICE_EXP:          "its entry has expired",
		errorcode.KDC_ERR_SERVICE_REVOKED:      "its entry is locked or disabled",
		errorcode.KDC_ERR_SERVICE_NOTYET:       "its entry is not valid yet",
		errorcode.KDC_ERR_MUST_USE_USER2USER:   "its entry is not that of a service",
		errorcode.KRB_AP_ERR_NOT_US:            "its entry is not that of a service",
		errorcode.KDC_ERR_PRINCIPAL_NOT_UNIQUE: "it has several entries of this name",
	}
)

// explained gives the error of a question as an *Error.
func (k *kdcs) explained(err error) error {
	if r, refused := err.(*refusal); refused { // and not one among those of several KDCs, none of which was of use
		return k.explain(r)
	}
	return err
}

// explain says in words why a KDC refuses.
func (k *kdcs) explain(r *refusal) *Error {
	if words, known := clientRefusals[r.ErrorCode]; known {
		return because(ErrUnknownPrincipal, r, "%s", words)
	}
	if words, known := serviceRefusals[r.ErrorCode]; known {
		return because(ErrUnknownService, r, "%s", words)
	}
	switch r.ErrorCode {
	case errorcode.KDC_ERR_PREAUTH_FAILED, errorcode.KRB_AP_ERR_BAD_INTEGRITY, errorcode.KDC_ERR_KEY_EXPIRED:
		return because(ErrWrongKey, r, "its password or key was changed since the keytab was made, or it has expired")
	case errorcode.KRB_AP_ERR_SKEW, errorcode.KRB_AP_ERR_TKT_NYV:
		return because(ErrClockSkew, r, "it is %s here and %s at the KDC", clock(k.now()), clock(r.STime))
	case errorcode.KRB_AP_ERR_TKT_EXPIRED:
		return because(ErrTicketExpired, r, "says the KDC, where it is %s", clock(r.STime))
	case errorcode.KDC_ERR_ETYPE_NOSUPP:
		return because(ErrUnsupported, r, "the KDC has no encryption type in common with us for one of the principals, of %s",
			typeNames(supportedTypes))
	case errorcode.KDC_ERR_SVC_UNAVAILABLE:
		return because(ErrNoKDC, r, "it says that it is not available")
	}
	return because(ErrRefused, r, "by the KDC")
}
