package gssapi

import (
	"cmp"
	"context"
	"encoding/binary"
	"os"
	"testing"
	"testing/synctest"
	"time"

	"github.com/jcmturner/gokrb5/v8/iana"
	"github.com/jcmturner/gokrb5/v8/messages"
	"github.com/jcmturner/gokrb5/v8/types"
	"github.com/stretchr/testify/require"
)

// cacheOf gives the beginning of a credential cache of alice's (version 4 of the format), and the
// ticket-granting ticket that kinit writes behind that.
func cacheOf(t testing.TB, end time.Time) (beginning, ticket []byte) {
	t.Helper()
	data := func(to, b []byte) []byte { return append(binary.BigEndian.AppendUint32(to, uint32(len(b))), b...) }
	name := func(to []byte, p principal) []byte {
		to = binary.BigEndian.AppendUint32(to, uint32(p.name.NameType))
		to = binary.BigEndian.AppendUint32(to, uint32(len(p.name.NameString)))
		to = data(to, []byte(p.realm))
		for _, part := range p.name.NameString {
			to = data(to, []byte(part))
		}
		return to
	}
	granter := ticketGranter(alice.realm, alice.realm)
	inside := messages.Ticket{TktVNO: iana.PVNO, Realm: granter.realm, SName: granter.name,
		EncPart: types.EncryptedData{EType: anAES, KVNO: 1, Cipher: []byte("sealed for the KDC")}}
	b, err := inside.Marshal()
	require.NoError(t, err)
	ticket = name(name(nil, alice), granter)
	ticket = data(binary.BigEndian.AppendUint16(ticket, uint16(anAES)), newKey(t, anAES).KeyValue)
	for _, at := range []time.Time{end.Add(-time.Hour), end.Add(-time.Hour), end, end} {
		ticket = binary.BigEndian.AppendUint32(ticket, uint32(at.Unix()))
	}
	ticket = append(ticket, make([]byte, 1+4+4+4)...) // no second key, flags, addresses, or data
	ticket = data(data(ticket, b), nil)
	return name([]byte{5, 4, 0, 0}, alice), ticket
}

// kinit writes the head of a cache first, and the ticket then.
func TestCacheWithoutATicketYet(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		beginning, ticket := cacheOf(t, time.Now().Add(time.Hour))
		path := writeFile(t, "cache", string(beginning)+string(ticket))
		s := &cacheSource{path: path, clock: time.Now}
		changed, err := s.refresh(t.Context())
		require.NoError(t, err)
		require.True(t, changed)

		require.NoError(t, os.WriteFile(path, beginning, 0o600))
		go func() {
			time.Sleep(readPause / 2)
			file, err := os.OpenFile(path, os.O_APPEND|os.O_WRONLY, 0)
			require.NoError(t, err)
			_, err = file.Write(ticket)
			require.NoError(t, err)
			require.NoError(t, file.Close())
		}()
		changed, err = s.refresh(t.Context())
		require.NoError(t, err)
		require.True(t, changed)
		_, err = s.login(t.Context())
		require.NoError(t, err)
	})
}

// TestCacheIsReadAgain: where its time is another, or it is another file.
func TestCacheIsReadAgain(t *testing.T) {
	beginning, ticket := cacheOf(t, time.Now().Add(time.Hour))
	path := writeFile(t, "cache", string(beginning)+string(ticket))
	s := &cacheSource{path: path, clock: time.Now}
	for _, write := range []func(string, time.Time) error{
		func(string, time.Time) error { return nil },
		func(path string, at time.Time) error { return os.Chtimes(path, at, at.Add(time.Second)) },
		func(path string, at time.Time) error {
			other := writeFile(t, "other", string(beginning)+string(ticket))
			return cmp.Or(os.Chtimes(other, at, at), os.Rename(other, path))
		},
	} {
		if s.seen != nil {
			require.NoError(t, write(path, s.seen.ModTime()))
		}
		for _, want := range []bool{true, false} {
			changed, err := s.refresh(t.Context())
			require.NoError(t, err)
			require.Equal(t, want, changed)
		}
	}
}

// A cache in which there is nothing of use stays what it is, and says why.
func TestCacheWithoutAValidTicket(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		beginning, expired := cacheOf(t, time.Now().Add(-time.Minute))
		for want, content := range map[error][]byte{
			ErrNoCredentials: beginning, ErrTicketExpired: append(beginning, expired...),
		} {
			path := writeFile(t, "cache", string(content))
			s := &cacheSource{path: path, clock: time.Now}
			for range 2 {
				begin := time.Now()
				_, err := s.refresh(t.Context())
				require.ErrorIs(t, err, want)
				require.ErrorContains(t, err, "kinit")
				require.Equal(t, alice.String(), s.owner())
				require.Equal(t, (readTries-1)*readPause, time.Since(begin))
			}
			ctx, cancel := context.WithCancel(t.Context())
			cancel()
			_, err := s.refresh(ctx)
			require.ErrorIs(t, err, want)
		}
	})
}
