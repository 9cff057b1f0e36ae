package rig

import (
	"crypto/tls"
	"testing"
)

func TestServerWithTLS(t *testing.T) {
	Require(t)
	ours, err := NewAuthority("ours")
	if err != nil {
		t.Fatal(err)
	}
	certificate, err := ours.Server("zk.example", "127.0.0.1")
	if err != nil {
		t.Fatal(err)
	}
	mine, err := ours.Client("me")
	if err != nil {
		t.Fatal(err)
	}
	server := StartStandalone(t, WithTLS(TLS{Certificate: certificate, Clients: ours, Demand: true}))
	for _, test := range []struct {
		name   string
		client *tls.Config
		ok     bool
	}{
		{"with a certificate", &tls.Config{RootCAs: ours.Pool(), Certificates: []tls.Certificate{mine}}, true},
		{"by its other name", &tls.Config{RootCAs: ours.Pool(), Certificates: []tls.Certificate{mine}, ServerName: "zk.example"}, true},
		{"without a certificate", &tls.Config{RootCAs: ours.Pool()}, false},
		{"that trusts nobody", &tls.Config{Certificates: []tls.Certificate{mine}}, false},
	} {
		t.Run(test.name, func(t *testing.T) {
			dialer := tls.Dialer{Config: test.client}
			conn, err := dialer.DialContext(testContext(t), "tcp", server.SecureAddr())
			if err == nil {
				_ = conn.Close()
			}
			if (err == nil) != test.ok {
				t.Fatalf("handshake: %v", err)
			}
		})
	}
	eventually(t, "the port without TLS serves", func() bool {
		_, err := server.Address().Mode(testContext(t))
		return err == nil
	})
	if err := server.Restart(testContext(t)); err != nil {
		t.Fatal(err)
	}
	if (&Server{}).SecureAddr() != "" {
		t.Fatal("a server without TLS has no address for it")
	}
}
