package rig

import (
	"context"
	"crypto/tls"
	"fmt"
	"io"
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
			err := askWithTLS(testContext(t), test.client, server.SecureAddr())
			if (err == nil) != test.ok {
				t.Fatalf("asked with TLS: %v", err)
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

// askWithTLS asks a server whether it is well. With TLS 1.3 a client whose certificate is refused learns it from its
// first read, not from the handshake.
func askWithTLS(ctx context.Context, config *tls.Config, addr string) error {
	dialer := tls.Dialer{Config: config}
	conn, err := dialer.DialContext(ctx, "tcp", addr)
	if err != nil {
		return err
	}
	defer func() { _ = conn.Close() }()
	end, _ := ctx.Deadline()
	if err := conn.SetDeadline(end); err != nil {
		return err
	}
	if _, err := conn.Write([]byte("ruok")); err != nil {
		return err
	}
	answer, err := io.ReadAll(conn)
	if err == nil && string(answer) != "imok" {
		return fmt.Errorf("it says %q", answer)
	}
	return err
}
