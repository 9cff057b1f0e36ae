package rig

import (
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"net"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"time"
)

// TLS sets up TLS on a port of its own, beside the port without.
type TLS struct {
	// Certificate is the server's.
	Certificate tls.Certificate
	// Clients is the authority whose certificates the server accepts of clients.
	Clients *Authority
	// Demand makes it refuse clients without a certificate. Otherwise it does not ask for one.
	Demand bool
	// Protocols are the versions that it speaks, such as TLSv1.2 and TLSv1.3. Nil leaves that to the server: 3.8 speaks
	// TLS 1.2 only, and 3.9.5 TLS 1.3 only.
	Protocols []string
}

// WithTLS makes a server speak TLS at [Server.SecureAddr], beside the port without.
func WithTLS(secure TLS) Option {
	return func(s *settings) { s.secure = &secure }
}

// SecureAddr is the address for clients with TLS; empty where the server has no TLS.
func (s *Server) SecureAddr() string {
	if s.securePort == 0 {
		return ""
	}
	return loopback(s.securePort)
}

// awaitSecure returns once the port with TLS is open: a server opens it after
// the other, on which it answers questions.
func (s *Server) awaitSecure(ctx context.Context) error {
	if s.securePort == 0 {
		return nil
	}
	for {
		conn, err := new(net.Dialer).DialContext(ctx, "tcp", s.SecureAddr())
		if err == nil {
			return conn.Close()
		}
		select {
		case <-ctx.Done():
			return fmt.Errorf("rig: server %s has no TLS at %s (%w): %w\n%s", s.Addr(), s.SecureAddr(), err, ctx.Err(), s.Log())
		case <-time.After(pollInterval):
		}
	}
}

const (
	keyFile   = "server.pem"
	trustFile = "clients.pem"
)

// prepareTLS takes a port and writes the files that the configuration names.
func (s *Server) prepareTLS() error {
	secure := s.settings.secure
	if secure == nil {
		return nil
	}
	if secure.Clients == nil {
		return errors.New("rig: TLS needs an authority for clients, also where none is asked for a certificate")
	}
	port, err := TakePort()
	if err != nil {
		return err
	}
	s.securePort = port
	key, err := pemOf(secure.Certificate)
	if err != nil {
		return err
	}
	for name, text := range map[string][]byte{keyFile: key, trustFile: secure.Clients.pem()} {
		if err := os.WriteFile(filepath.Join(s.dir, name), text, 0o600); err != nil {
			return fmt.Errorf("rig: %s: %w", name, err)
		}
	}
	return nil
}

// secureLines is the part of the configuration file that is about TLS.
func (s *Server) secureLines() []string {
	if s.settings.secure == nil {
		return nil
	}
	demand := "none"
	if s.settings.secure.Demand {
		demand = "need"
	}
	lines := []string{
		"serverCnxnFactory=org.apache.zookeeper.server.NettyServerCnxnFactory",
		"secureClientPortAddress=127.0.0.1",
		"secureClientPort=" + strconv.Itoa(s.securePort),
		"ssl.keyStore.location=" + filepath.Join(s.dir, keyFile),
		"ssl.keyStore.type=PEM",
		"ssl.trustStore.location=" + filepath.Join(s.dir, trustFile),
		"ssl.trustStore.type=PEM",
		"ssl.clientAuth=" + demand,
	}
	if protocols := s.settings.secure.Protocols; len(protocols) > 0 {
		lines = append(lines, "ssl.enabledProtocols="+strings.Join(protocols, ","))
	}
	return lines
}
