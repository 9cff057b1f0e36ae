package saslflags

import (
	"fmt"
	"strconv"

	"github.com/turnstile-locks/turnstile/zkconn"
	"github.com/turnstile-locks/turnstile/zkconn/gssapi"
)

// kerberosSettings are the settings of gssapi, all of them paths and names:
//
//	keytab        the file with the keys; without it, tickets come from a credential cache
//	principal     whose keys; may be left out where the keytab has those of one alone
//	ccache        the credential cache; that of KRB5CCNAME without
//	krb5conf      krb5.conf; that of KRB5_CONFIG, or /etc/krb5.conf, without
//	service       the first part of the servers' principals; zookeeper without
//	server        the principal of all servers, whatever their host
//	canonicalize  false: the servers' principals have the hosts as they are typed
var kerberosSettings = []string{"keytab", "principal", "ccache", "krb5conf", "service", "server", "canonicalize"}

func kerberos(get func(string) string) (zkconn.SASLMechanism, error) {
	opts := []gssapi.Option{gssapi.WithConfig(get("krb5conf"))}
	switch keytab, principal := get("keytab"), get("principal"); {
	case keytab != "":
		opts = append(opts, gssapi.WithKeytab(keytab, principal))
	case principal != "":
		return nil, fmt.Errorf("principal %q without a keytab: a credential cache says by itself whose it is", principal)
	}
	opts = append(opts, gssapi.WithCredentialCache(get("ccache")))
	if service := get("service"); service != "" {
		opts = append(opts, gssapi.WithService(service))
	}
	if server := get("server"); server != "" {
		opts = append(opts, gssapi.WithServerPrincipal(server))
	}
	if text := get("canonicalize"); text != "" {
		canonicalize, err := strconv.ParseBool(text)
		if err != nil {
			return nil, fmt.Errorf("canonicalize %q: must be true or false", text)
		}
		if !canonicalize {
			opts = append(opts, gssapi.WithoutCanonicalHost())
		}
	}
	m, err := gssapi.New(opts...)
	if err != nil {
		return nil, err // and no *gssapi.Mechanism that is nil
	}
	return m, nil
}
