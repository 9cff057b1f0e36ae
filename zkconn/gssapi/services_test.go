package gssapi

import (
	"context"
	"errors"
	"net"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/turnstile-locks/turnstile/zkconn"
)

// A server that is configured by its address, while the DNS is out of reach: that the KDC does not know the address is
// no refusal. It is one when the DNS has said that there is no name.
func TestUnknownServiceWhileTheDNSIsSilent(t *testing.T) {
	_, m := newFakeKDC(t, "zookeeper/zk1.example.com")
	server := zkconn.SASLServer{Host: "192.0.2.1", Address: "192.0.2.1:2181"}
	says := func(host string, err error) {
		m.state().services.lookUp = func(context.Context, string) (string, error) { return host, err }
	}
	silent := &net.DNSError{Err: "i/o timeout", Name: server.Host, IsTimeout: true, IsTemporary: true}
	for range 3 {
		says("", silent)
		_, err := m.Start(t.Context(), server)
		require.ErrorIs(t, err, ErrNameInDoubt)
		require.NotErrorIs(t, err, ErrUnknownService)
		require.NotErrorIs(t, err, zkconn.ErrAuthFailed)
		require.True(t, passes(err))
		require.ErrorContains(t, err, "zookeeper/192.0.2.1@EXAMPLE.COM")
		require.ErrorContains(t, err, "i/o timeout")
		var e *Error
		require.ErrorAs(t, err, &e)
		require.Equal(t, alice.String(), e.Principal)
	}
	says("", errNoName)
	_, err := m.Start(t.Context(), server)
	require.ErrorIs(t, err, ErrUnknownService)
	require.ErrorIs(t, err, zkconn.ErrAuthFailed)
	says("zk1.example.com.", nil)
	_, err = m.Start(t.Context(), server)
	require.NoError(t, err)
}

func TestAnswersOfTheDNS(t *testing.T) {
	require.ErrorIs(t, definite(&net.DNSError{Err: "no such host", IsNotFound: true}), errNoName)
	for _, err := range []error{&net.DNSError{Err: "server misbehaving", IsTemporary: true}, context.DeadlineExceeded,
		errors.New("another")} {
		require.Equal(t, err, definite(err))
	}
}

// A name that is known costs a DNS that is silent a small part of the time alone.
func TestNameThatIsLookedUpAgain(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := &services{names: map[string]knownName{"192.0.2.1": {"zk1.", time.Now()}}}
		s.lookUp = func(ctx context.Context, _ string) (string, error) {
			<-ctx.Done()
			return "", ctx.Err()
		}
		ctx, cancel := context.WithTimeout(t.Context(), 4*time.Second)
		defer cancel()
		begin := time.Now()
		host, _ := s.canonicalHost(ctx, zkconn.SASLServer{Host: "alias", Address: "192.0.2.1:2181"})
		require.Equal(t, "zk1.", host)
		require.Equal(t, 4*time.Second/refreshShare, time.Since(begin))
	})
}

// Two servers have exchanged their addresses. One refusal is enough to have both names looked up again, and a KDC that
// knows the old one no more has refused nobody.
func TestServersThatChangePlaces(t *testing.T) {
	k, m := newFakeKDC(t, "zookeeper/zk1.example.com", "zookeeper/zk2.example.com")
	names := map[string]string{"192.0.2.1": "zk1.example.com.", "192.0.2.2": "zk2.example.com."}
	m.state().services.lookUp = func(_ context.Context, address string) (string, error) { return names[address], nil }
	begin := func(address, want string) opaque {
		t.Helper()
		x, err := m.Start(t.Context(), zkconn.SASLServer{Host: address, Address: address + ":2181"})
		require.NoError(t, err)
		require.Equal(t, "zookeeper/"+want+"@EXAMPLE.COM", x.(opaque).exchange().ticket.service.String())
		return x.(opaque)
	}
	begin("192.0.2.1", "zk1.example.com")
	begin("192.0.2.2", "zk2.example.com")
	exchange := func() { names["192.0.2.1"], names["192.0.2.2"] = names["192.0.2.2"], names["192.0.2.1"] }
	exchange()
	begin("192.0.2.1", "zk1.example.com").Refused()
	begin("192.0.2.2", "zk1.example.com")
	begin("192.0.2.1", "zk2.example.com")
	exchange()
	x := begin("192.0.2.1", "zk2.example.com")
	_, err := x.Initial()
	require.NoError(t, err)
	_, err = x.Step([]byte("garbage"))
	require.Error(t, err)
	begin("192.0.2.1", "zk1.example.com")

	k.set(func() { k.knows = []string{"zookeeper/zk3.example.com"} })
	names["192.0.2.1"] = "zk3.example.com."
	m.state().tickets.forget()
	server := zkconn.SASLServer{Host: "192.0.2.1", Address: "192.0.2.1:2181"}
	_, err = m.Start(t.Context(), server)
	require.ErrorIs(t, err, ErrNameInDoubt)
	require.True(t, passes(err))
	begin("192.0.2.1", "zk3.example.com")
	k.set(func() { k.knows = nil })
	m.state().tickets.forget()
	m.state().services.forget()
	for range 2 {
		_, err = m.Start(t.Context(), server)
		require.ErrorIs(t, err, ErrUnknownService, "of a name that was just looked up")
	}
}
