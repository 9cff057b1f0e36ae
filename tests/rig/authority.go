package rig

import (
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/pem"
	"fmt"
	"math/big"
	"net"
	"os"
	"path/filepath"
	"time"
)

// Authority is a certificate authority that is made for a test and known to
// nobody else.
type Authority struct {
	certificate *x509.Certificate
	key         *ecdsa.PrivateKey
}

// certificateLife is longer than any test, also where clocks differ a little.
const certificateLife = 24 * time.Hour

// NewAuthority makes an authority of that name.
func NewAuthority(name string) (*Authority, error) {
	template, key, err := newTemplate(name)
	if err != nil {
		return nil, err
	}
	template.IsCA, template.BasicConstraintsValid = true, true
	template.KeyUsage = x509.KeyUsageCertSign
	a := &Authority{certificate: template, key: key}
	der, err := a.sign(template, &key.PublicKey)
	if err != nil {
		return nil, err
	}
	a.certificate, err = x509.ParseCertificate(der)
	return a, err
}

// Pool holds the authority's certificate, for clients and servers that are to trust it.
func (a *Authority) Pool() *x509.CertPool {
	pool := x509.NewCertPool()
	pool.AddCert(a.certificate)
	return pool
}

// Server makes a server's certificate for those host names and IP addresses.
func (a *Authority) Server(hosts ...string) (tls.Certificate, error) {
	return a.issue("server", x509.ExtKeyUsageServerAuth, hosts)
}

// Client makes a client's certificate, whose subject is CN=name.
func (a *Authority) Client(name string) (tls.Certificate, error) {
	return a.issue(name, x509.ExtKeyUsageClientAuth, nil)
}

func (a *Authority) issue(name string, usage x509.ExtKeyUsage, hosts []string) (tls.Certificate, error) {
	template, key, err := newTemplate(name)
	if err != nil {
		return tls.Certificate{}, err
	}
	template.KeyUsage = x509.KeyUsageDigitalSignature
	template.ExtKeyUsage = []x509.ExtKeyUsage{usage}
	for _, host := range hosts {
		if ip := net.ParseIP(host); ip != nil {
			template.IPAddresses = append(template.IPAddresses, ip)
		} else {
			template.DNSNames = append(template.DNSNames, host)
		}
	}
	der, err := a.sign(template, &key.PublicKey)
	if err != nil {
		return tls.Certificate{}, err
	}
	return tls.Certificate{Certificate: [][]byte{der}, PrivateKey: key}, nil
}

func (a *Authority) sign(template *x509.Certificate, public *ecdsa.PublicKey) ([]byte, error) {
	der, err := x509.CreateCertificate(rand.Reader, template, a.certificate, public, a.key)
	if err != nil {
		return nil, fmt.Errorf("rig: certificate of %s: %w", template.Subject, err)
	}
	return der, nil
}

// newTemplate is of a certificate for a new key.
func newTemplate(name string) (*x509.Certificate, *ecdsa.PrivateKey, error) {
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		return nil, nil, fmt.Errorf("rig: key of %s: %w", name, err)
	}
	serial, err := rand.Int(rand.Reader, new(big.Int).Lsh(big.NewInt(1), 100))
	now := time.Now()
	return &x509.Certificate{
		SerialNumber: serial,
		Subject:      pkix.Name{CommonName: name},
		NotBefore:    now.Add(-certificateLife),
		NotAfter:     now.Add(certificateLife),
	}, key, err
}

// Write writes PEM files into a folder: the authority as ca.pem, and a certificate, of whatever authority, with its key as
// cert.pem and key.pem.
func (a *Authority) Write(folder string, certificate tls.Certificate) error {
	pair, err := pemOf(certificate)
	if err != nil {
		return err
	}
	for name, text := range map[string][]byte{"ca.pem": a.pem(), "cert.pem": pair, "key.pem": pair} {
		if err := os.WriteFile(filepath.Join(folder, name), text, 0o600); err != nil {
			return fmt.Errorf("rig: files of authority %s: %w", a.certificate.Subject, err)
		}
	}
	return nil
}

// pem gives the certificate as text.
func (a *Authority) pem() []byte {
	return pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: a.certificate.Raw})
}

// pemOf gives a certificate and its key as text.
func pemOf(certificate tls.Certificate) ([]byte, error) {
	key, err := x509.MarshalPKCS8PrivateKey(certificate.PrivateKey)
	if err != nil {
		return nil, fmt.Errorf("rig: key of a certificate: %w", err)
	}
	text := pem.EncodeToMemory(&pem.Block{Type: "PRIVATE KEY", Bytes: key})
	for _, der := range certificate.Certificate {
		text = append(text, pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: der})...)
	}
	return text, nil
}
