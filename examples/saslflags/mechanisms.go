package saslflags

import (
	"github.com/turnstile-locks/turnstile/zkconn"
	"github.com/turnstile-locks/turnstile/zkconn/digestmd5"
)

// mechanisms has the mechanisms that --sasl can name.
var mechanisms = map[string]mechanism{
	"digest-md5": {settings: []string{"user", "password"}, make: digestMD5},
	"gssapi":     {settings: kerberosSettings, make: kerberos},
}

func digestMD5(get func(string) string) (zkconn.SASLMechanism, error) {
	user, err := required(get, "user")
	if err != nil {
		return nil, err
	}
	password, err := required(get, "password")
	if err != nil {
		return nil, err
	}
	return digestmd5.New(user, password)
}
