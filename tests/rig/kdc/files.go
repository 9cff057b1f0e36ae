package kdc

import (
	"fmt"
	"os"
	"strings"
	"testing"
)

// serverConfig is kdc.conf. Every principal has to prove its key before it gets a ticket, as in
// every realm that is set up with care.
func (k *KDC) serverConfig() string {
	return fmt.Sprintf(`[kdcdefaults]
  kdc_listen = %[1]s
  kdc_tcp_listen = %[1]s
[realms]
  %[2]s = {
    database_name = %[3]s
    key_stash_file = %[4]s
    acl_file = %[5]s
    max_life = 10h
    max_renewable_life = 0
    default_principal_flags = +preauth
  }
[logging]
  kdc = FILE:%[6]s
  admin_server = FILE:%[7]s
  default = FILE:%[7]s
`, k.address(), k.realm, k.path("principal"), k.path("stash"), k.path("acl"), k.path("kdc.log"), k.path("admin.log"))
}

// clientConfig is krb5.conf, with more lines of [libdefaults] and the realms of others.
func (k *KDC) clientConfig(lines []string, others ...*KDC) string {
	realms, domains := "", ""
	for _, each := range append([]*KDC{k}, others...) {
		realms += fmt.Sprintf("  %s = {\n    kdc = %s\n  }\n", each.realm, each.address())
		domains += fmt.Sprintf("  .%[1]s = %[2]s\n", strings.ToLower(each.realm), each.realm)
	}
	return fmt.Sprintf(`[libdefaults]
  default_realm = %s
  dns_lookup_kdc = false
  dns_lookup_realm = false
  rdns = false
  %s
[realms]
%s[domain_realm]
%s`, k.realm, strings.Join(lines, "\n  "), realms, domains)
}

// Config is the path of krb5.conf for clients and servers.
func (k *KDC) Config() string { return k.path("krb5.conf") }

// ConfigWith makes another krb5.conf, with more lines in its section [libdefaults], and gives its path.
func (k *KDC) ConfigWith(t testing.TB, lines ...string) string {
	t.Helper()
	return k.write(t, "krb5.conf", k.clientConfig(lines))
}

// ConfigAmong makes a krb5.conf that knows other realms, too.
func (k *KDC) ConfigAmong(t testing.TB, others ...*KDC) string {
	t.Helper()
	return k.write(t, "krb5.conf", k.clientConfig(nil, others...))
}

// write makes a file of a name that is new.
func (k *KDC) write(t testing.TB, name, text string) string {
	t.Helper()
	path := k.fresh(name)
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	return path
}

func (k *KDC) fresh(name string) string {
	k.files++
	return k.path(fmt.Sprintf("%d.%s", k.files, name))
}

// Log gives the KDC's log of requests.
func (k *KDC) Log() string {
	content, _ := os.ReadFile(k.path("kdc.log")) // it does not exist before the first request
	return string(content)
}

// Logins counts the ticket-granting tickets that a principal was given for its key.
func (k *KDC) Logins(who string) int { return k.issued("AS_REQ", who) }

// Tickets counts the tickets that a principal was given for a ticket-granting ticket.
func (k *KDC) Tickets(who string) int { return k.issued("TGS_REQ", who) }

func (k *KDC) issued(kind, who string) (count int) {
	for line := range strings.Lines(k.Log()) {
		if strings.Contains(line, kind) && strings.Contains(line, ": ISSUE:") && strings.Contains(line, " "+who+"@") {
			count++
		}
	}
	return count
}

// ReadConfig gives the text of krb5.conf.
func (k *KDC) ReadConfig(t testing.TB) string {
	t.Helper()
	content, err := os.ReadFile(k.Config())
	if err != nil {
		t.Fatal(err)
	}
	return string(content)
}

// WriteConfig makes a krb5.conf of another text and gives its path.
func (k *KDC) WriteConfig(t testing.TB, text string) string {
	t.Helper()
	return k.write(t, "krb5.conf", text)
}
