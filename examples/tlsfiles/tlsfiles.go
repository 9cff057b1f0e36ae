// Package tlsfiles makes a tls.Config of PEM files that are read at each handshake: certificates that are replaced while a
// program runs are used from its next connection on.
package tlsfiles

import (
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"net"
	"os"
)

// Files are the names of the files; "" for none. Errors begin with the name of a flag: tls-ca or tls-cert.
type Files struct {
	CA         string // the authorities that are trusted in place of the system's
	Cert, Key  string // ours; both or none
	ServerName string // the name that the servers' certificates have; "" for that in the connect string
}

// Config makes the configuration, and reads the files once, so that a mistake is told at the start. servers are those of
// the connect string, host:port.
func (f Files) Config(servers []string) (*tls.Config, error) {
	config := &tls.Config{ServerName: f.ServerName, MinVersion: tls.VersionTLS12}
	if (f.Cert == "") != (f.Key == "") {
		return nil, errors.New("tls-cert, tls-key: they go together: type both")
	}
	if f.Cert != "" {
		config.GetClientCertificate = f.ours
		if _, err := f.ours(nil); err != nil {
			return nil, err
		}
	}
	if f.CA == "" {
		return config, nil
	}
	hosts := append(hostsOf(servers), f.ServerName)
	config.InsecureSkipVerify = true // VerifyConnection does it: RootCAs would be those of now for ever
	config.VerifyConnection = func(state tls.ConnectionState) error { return f.verify(state, hosts) }
	_, err := f.authorities()
	return config, err
}

func hostsOf(servers []string) (hosts []string) {
	for _, server := range servers {
		if host, _, err := net.SplitHostPort(server); err == nil {
			hosts = append(hosts, host)
		}
	}
	return hosts
}

func (f Files) ours(*tls.CertificateRequestInfo) (*tls.Certificate, error) {
	pair, err := tls.LoadX509KeyPair(f.Cert, f.Key)
	if err != nil {
		return nil, fmt.Errorf("tls-cert: %w", err)
	}
	return &pair, nil
}

func (f Files) authorities() (*x509.CertPool, error) {
	text, err := os.ReadFile(f.CA)
	if err != nil {
		return nil, fmt.Errorf("tls-ca: %w", err)
	}
	pool := x509.NewCertPool()
	if !pool.AppendCertsFromPEM(text) {
		return nil, fmt.Errorf("tls-ca: %s has no certificate; it has to be PEM", f.CA)
	}
	return pool, nil
}

// verify does what crypto/tls does without InsecureSkipVerify, with the authorities of this moment.
func (f Files) verify(state tls.ConnectionState, hosts []string) error {
	roots, err := f.authorities()
	if err != nil {
		return err
	}
	options := x509.VerifyOptions{Roots: roots, Intermediates: x509.NewCertPool(), DNSName: state.ServerName}
	for _, between := range state.PeerCertificates[1:] {
		options.Intermediates.AddCert(between)
	}
	its := state.PeerCertificates[0]
	if _, err = its.Verify(options); err == nil && state.ServerName == "" {
		err = namesAddress(its, hosts)
	}
	if err != nil {
		return &tls.CertificateVerificationError{UnverifiedCertificates: state.PeerCertificates, Err: err}
	}
	return nil
}

// namesAddress checks the name of a server that was dialled by its IP address: TLS sends no name then, and
// ConnectionState has none, so a certificate for any host would pass. It is to name one of our servers' addresses.
func namesAddress(its *x509.Certificate, hosts []string) error {
	err := errors.New("no server is named by its address")
	for _, host := range hosts {
		if net.ParseIP(host) == nil {
			continue
		}
		if err = its.VerifyHostname(host); err == nil {
			return nil
		}
	}
	return err
}
