package kerberos

import (
	"context"
	"errors"
	"io"
	"net"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/turnstile-locks/turnstile/tests/rig/kdc"
	"github.com/turnstile-locks/turnstile/tests/scene"
	"github.com/turnstile-locks/turnstile/zkconn"
	"github.com/turnstile-locks/turnstile/zkconn/gssapi"
)

// requireTemporary: a refusal is final, because others have refused and will again; where nobody has refused anything it
// passes.
func requireTemporary(t *testing.T, passes bool, err error) {
	t.Helper()
	require.Error(t, err)
	require.Equal(t, !passes, errors.Is(err, zkconn.ErrAuthFailed))
	var e *gssapi.Error
	require.ErrorAs(t, err, &e)
	require.Equal(t, passes, e.Temporary())
}

// changed makes alice's mechanism with a krb5.conf in which a text stands for another.
func changed(t *testing.T, k *kdc.KDC, old, new string) *gssapi.Mechanism {
	t.Helper()
	content := strings.Replace(k.ReadConfig(t), old, new, 1)
	return as(t, k, "alice", gssapi.WithConfig(k.WriteConfig(t, content)))
}

func TestRefusals(t *testing.T) {
	k := newRealm(t)
	withoutProof := func(k *kdc.KDC, t *testing.T, who string) {
		k.AddWith(t, who, "-randkey", "-requires_preauth")
	}
	for name, c := range map[string]struct {
		make func(t *testing.T) *gssapi.Mechanism
		kind error
		says []string
	}{
		"unknown principal": {func(t *testing.T) *gssapi.Mechanism {
			k.Add(t, "gone")
			m := as(t, k, "gone")
			k.Delete(t, "gone")
			return m
		}, gssapi.ErrUnknownPrincipal, []string{"KDC_ERR_C_PRINCIPAL_UNKNOWN"}},
		"locked principal": {func(t *testing.T) *gssapi.Mechanism {
			k.Add(t, "locked")
			k.Modify(t, "locked", "-allow_tix")
			return as(t, k, "locked")
		}, gssapi.ErrUnknownPrincipal, []string{"locked or disabled"}},
		"expired principal": {func(t *testing.T) *gssapi.Mechanism {
			k.Add(t, "old")
			k.Modify(t, "old", `-expire "2020-01-01 00:00:00"`)
			return as(t, k, "old")
		}, gssapi.ErrUnknownPrincipal, []string{"has expired"}},
		"key that was changed": {func(t *testing.T) *gssapi.Mechanism {
			k.Add(t, "changed")
			m := as(t, k, "changed")
			k.ChangeKey(t, "changed")
			return m
		}, gssapi.ErrWrongKey, []string{"KDC_ERR_PREAUTH_FAILED", "keytab"}},
		"key that was changed, where none need be proved": {func(t *testing.T) *gssapi.Mechanism {
			withoutProof(k, t, "lax")
			m := as(t, k, "lax")
			k.ChangeKey(t, "lax")
			return m
		}, gssapi.ErrWrongKey, nil},
		"unknown server": {func(t *testing.T) *gssapi.Mechanism {
			return as(t, k, "alice", gssapi.WithService("nosuch"))
		}, gssapi.ErrUnknownService, []string{"for server nosuch/localhost@" + kdc.Realm, "WithServerPrincipal"}},
		"locked server": {func(t *testing.T) *gssapi.Mechanism {
			k.Add(t, "other/localhost")
			k.Modify(t, "other/localhost", "-allow_svr")
			return as(t, k, "alice", gssapi.WithService("other"))
		}, gssapi.ErrUnknownService, []string{"other/localhost"}},
		"weak keys of the client": {func(t *testing.T) *gssapi.Mechanism {
			k.AddWith(t, "weak", "-randkey", "-e", "arcfour-hmac:normal")
			return as(t, k, "weak")
		}, gssapi.ErrUnsupported, []string{"arcfour-hmac", "aes"}},
		"our clock an hour fast": {func(t *testing.T) *gssapi.Mechanism {
			return as(t, k, "alice", gssapi.WithClock((&shifted{time.Hour}).now))
		}, gssapi.ErrClockSkew, []string{"it is ", " here and ", " at the KDC"}},
		"our clock an hour slow": {func(t *testing.T) *gssapi.Mechanism {
			return as(t, k, "alice", gssapi.WithClock((&shifted{-time.Hour}).now))
		}, gssapi.ErrClockSkew, []string{"it is ", " here and ", " at the KDC"}},
		"our clock off, where no key need be proved": {func(t *testing.T) *gssapi.Mechanism {
			withoutProof(k, t, "slow")
			return as(t, k, "slow", gssapi.WithClock((&shifted{-time.Hour}).now))
		}, gssapi.ErrClockSkew, []string{" at the KDC"}},
		"no credential cache": {func(t *testing.T) *gssapi.Mechanism {
			return mechanism(t, k, gssapi.WithCredentialCache("/nowhere/cache"))
		}, gssapi.ErrNoCredentials, []string{"/nowhere/cache", "kinit"}},
		"encryption types that krb5.conf forbids": {func(t *testing.T) *gssapi.Mechanism {
			return as(t, k, "alice", gssapi.WithConfig(k.ConfigWith(t, "permitted_enctypes = aes256-sha2")))
		}, gssapi.ErrUnsupported, []string{"aes256-cts-hmac-sha384-192", "aes128-cts-hmac-sha1-96"}},
	} {
		t.Run(name, func(t *testing.T) {
			m := c.make(t)
			for range 2 { // it is no different the second time
				err := start(deadline(t), m)
				require.ErrorIs(t, err, c.kind)
				requireTemporary(t, false, err)
				for _, words := range c.says {
					require.ErrorContains(t, err, words)
				}
			}
		})
	}
}

// A KDC that is gone, or that takes requests and does not answer, makes nobody wait for longer than the context.
func TestKDCGone(t *testing.T) {
	k := newRealm(t)
	m := as(t, k, "alice")
	k.Kill(t)
	err := start(deadline(t), m)
	require.ErrorIs(t, err, gssapi.ErrNoKDC)
	requireTemporary(t, true, err)
	require.ErrorContains(t, err, "refused")
	k.Restart(t)
	require.NoError(t, start(deadline(t), m))
}

func TestKDCThatDoesNotAnswer(t *testing.T) {
	k := newRealm(t)
	k.Pause(t)
	m := as(t, k, "alice")
	// A machine that stands still in one half of the time does not get to the other.
	for within, both := 4*time.Second, false; !both; within *= 2 {
		require.Less(t, within, scene.Bound, "both are tried within the time")
		ctx, cancel := context.WithTimeout(deadline(t), within)
		err := start(ctx, m)
		cancel()
		require.ErrorIs(t, err, gssapi.ErrNoKDC)
		requireTemporary(t, true, err)
		both = strings.Contains(err.Error(), "tcp 127.0.0.1:") && strings.Contains(err.Error(), "udp 127.0.0.1:")
	}

	cancelled, stop := context.WithCancelCause(deadline(t))
	done := make(chan error, 2)
	for range 2 { // one asks, and one waits for it
		go func() { done <- start(cancelled, m) }()
	}
	stop(errors.New("closing"))
	for range 2 {
		requireTemporary(t, true, <-done)
	}
	k.Resume(t)
	require.NoError(t, start(deadline(t), m))
}

// A KDC of several answers, and is asked first from then on.
func TestAnotherKDCAnswers(t *testing.T) {
	k := newRealm(t)
	dead, err := net.Listen("tcp", "127.0.0.1:0")
	require.NoError(t, err)
	defer dead.Close()
	m := changed(t, k, "\n    kdc = ", "\n    kdc = "+dead.Addr().String()+"\n    kdc = ")
	ctx, cancel := context.WithTimeout(deadline(t), 20*time.Second)
	defer cancel()
	require.NoError(t, start(ctx, m), "the silent one has a part of the time alone")
	require.NoError(t, dead.Close())
	require.NoError(t, start(deadline(t), m))
}

// Where nothing but datagrams passes.
func TestKDCByUDP(t *testing.T) {
	k := newRealm(t)
	require.NoError(t, start(deadline(t), changed(t, k, "\n    kdc = ", "\n    kdc = udp/")))
}

// A program that listens where a KDC should be may say anything.
func TestSomethingElseThanAKDC(t *testing.T) {
	k := newRealm(t)
	for _, reply := range []string{"", "HTTP/1.1 400 Bad Request\r\n\r\n", "\xff\xff\xff\xff", "\x00\x00\x00\x00",
		"\x00\x00\x00\x05abc", "\x00\x00\x00\x03abc"} {
		listener, err := net.Listen("tcp", "127.0.0.1:0")
		require.NoError(t, err)
		go func() {
			for {
				conn, err := listener.Accept()
				if err != nil {
					return
				}
				_, _ = io.ReadFull(conn, make([]byte, 4))
				_, _ = io.WriteString(conn, reply)
				_ = conn.(*net.TCPConn).CloseWrite()
				_, _ = io.Copy(io.Discard, conn)
				_ = conn.Close()
			}
		}()
		content := "[libdefaults]\n udp_preference_limit = 1\n" +
			"[realms]\n " + kdc.Realm + " = {\n  kdc = " + listener.Addr().String() + "\n }\n"
		err = start(deadline(t), mechanism(t, k, gssapi.WithKeytab(k.Keytab(t, "alice"), "alice@"+kdc.Realm),
			gssapi.WithConfig(k.WriteConfig(t, content))))
		var e *gssapi.Error
		require.ErrorAs(t, err, &e, "%q", reply)
		require.NoError(t, listener.Close())
	}
}
