//go:build !race

// Two remotes in one process race in protoactor itself: each sets the logger of grpc when it starts.

package gateway_test

import (
	"context"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"fmt"
	"log/slog"
	"math/big"
	"net"
	"time"

	"github.com/asynkron/protoactor-go/actor"
	"github.com/asynkron/protoactor-go/remote"
	"google.golang.org/grpc"
	"google.golang.org/grpc/credentials"

	"github.com/turnstile-locks/turnstile/actors/gateway"
	"github.com/turnstile-locks/turnstile/locks"
	"github.com/turnstile-locks/turnstile/zkconn/embedded"
)

// A gateway on one node and its client on another, with a remote each, over TLS: both show a certificate, and take no
// connection from a node that has none.
func Example_tls() {
	ctx, stop := context.WithTimeout(context.Background(), time.Minute)
	defer stop()
	certificate, authorities, err := issue()
	if err != nil {
		fmt.Println(err)
		return
	}
	server, err := embedded.Start()
	if err != nil {
		fmt.Println(err)
		return
	}
	defer server.Close()

	serving, ended := node(certificate, authorities) // on the node with a session
	defer ended()
	with, err := locks.Open(ctx, server.Connect(), locks.WithActorSystem(serving))
	if err != nil {
		fmt.Println(err)
		return
	}
	defer with.Close(ctx)
	if _, err := gateway.Spawn(serving, with.Session(), "locks"); err != nil {
		fmt.Println(err)
		return
	}

	asking, ended := node(certificate, authorities) // on any other
	defer ended()
	client, err := gateway.Open(ctx, asking, gateway.At(actor.NewPID(serving.Address(), "locks")))
	if err != nil {
		fmt.Println(err)
		return
	}
	defer client.Close(ctx)
	err = locks.Do(ctx, client.Mutex("/jobs/nightly"), func(context.Context, locks.Token) error {
		fmt.Println("held, over TLS")
		return nil
	})
	fmt.Println("released:", err)

	_, err = tls.Dial("tcp", serving.Address(), &tls.Config{RootCAs: authorities, MaxVersion: tls.VersionTLS12})
	fmt.Println("without a certificate it is refused:", err != nil)
	// Output:
	// held, over TLS
	// released: <nil>
	// without a certificate it is refused: true
}

// node starts an actor system with a remote that talks TLS. In production give the host and port at
// which the other nodes reach it; behind an address translation use remote.WithAdvertisedHost.
func node(certificate tls.Certificate, authorities *x509.CertPool) (system *actor.ActorSystem, ended func()) {
	log := slog.New(slog.DiscardHandler)
	system = actor.NewActorSystem(actor.WithLoggerFactory(func(*actor.ActorSystem) *slog.Logger { return log }))
	secure := credentials.NewTLS(&tls.Config{
		Certificates: []tls.Certificate{certificate}, // shown to both, as a server and as a client
		RootCAs:      authorities,
		ClientAuth:   tls.RequireAndVerifyClientCert,
		ClientCAs:    authorities,
		MinVersion:   tls.VersionTLS12,
	})
	r := remote.NewRemote(system, remote.Configure("127.0.0.1", 0,
		remote.WithServerOptions(grpc.Creds(secure)),
		remote.WithDialOptions(grpc.WithTransportCredentials(secure)),
		gateway.WithRecovery(log)))
	r.Start()
	return system, func() { r.Shutdown(true); system.Shutdown() }
}

// issue makes a certificate for this machine, signed by itself. Yours come from files: tls.LoadX509KeyPair, and
// AppendCertsFromPEM of the authority's.
func issue() (tls.Certificate, *x509.CertPool, error) {
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		return tls.Certificate{}, nil, err
	}
	template := &x509.Certificate{
		SerialNumber: big.NewInt(1), IPAddresses: []net.IP{net.IPv4(127, 0, 0, 1)},
		NotBefore: time.Now().Add(-time.Hour), NotAfter: time.Now().Add(time.Hour),
		ExtKeyUsage: []x509.ExtKeyUsage{x509.ExtKeyUsageServerAuth, x509.ExtKeyUsageClientAuth},
		IsCA:        true, BasicConstraintsValid: true,
	}
	der, err := x509.CreateCertificate(rand.Reader, template, template, &key.PublicKey, key)
	if err != nil {
		return tls.Certificate{}, nil, err
	}
	leaf, err := x509.ParseCertificate(der)
	if err != nil {
		return tls.Certificate{}, nil, err
	}
	authorities := x509.NewCertPool()
	authorities.AddCert(leaf)
	return tls.Certificate{Certificate: [][]byte{der}, PrivateKey: key}, authorities, nil
}
