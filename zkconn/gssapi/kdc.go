package gssapi

import (
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/jcmturner/gokrb5/v8/config"
	"github.com/jcmturner/gokrb5/v8/iana/errorcode"
	"github.com/jcmturner/gokrb5/v8/messages"
)

// longestAsk bounds a request to the KDCs of a realm where the context does not.
const longestAsk = 15 * time.Second

// kdcs asks the KDCs of realms. The library's own client takes no context, and turns the errors of
// KDCs into text.
type kdcs struct {
	cfg   *config.Config
	clock func() time.Time
	dns   func(ctx context.Context, service, network, realm string) (string, []*net.SRV, error) // LookupSRV, or a test's

	mu       sync.Mutex // guards what follows
	answered map[string]string
	stamped  time.Time
}

func newKDCs(cfg *config.Config, clock func() time.Time) *kdcs {
	return &kdcs{cfg: cfg, clock: clock, dns: net.DefaultResolver.LookupSRV, answered: map[string]string{}}
}

func (k *kdcs) now() time.Time { return k.clock() }

// way is one way to reach a KDC.
type way struct{ network, address string }

// ask sends a request to the KDCs of a realm, one after the other, until one answers. Its error is
// a *refusal, not wrapped, when the answer is a KRB-ERROR, and an *Error with ErrNoKDC when no KDC
// answers.
func (k *kdcs) ask(ctx context.Context, realm string, request []byte) ([]byte, error) {
	ctx, cancel := context.WithTimeout(ctx, longestAsk)
	defer cancel()
	ways, err := k.ways(ctx, realm, len(request))
	if err != nil {
		return nil, err
	}
	var failures []error
	for i, way := range ways {
		reply, err := k.askOne(ctx, way, request, len(ways)-i)
		if refused, is := err.(*refusal); err == nil || is && !movesOn(refused.ErrorCode) {
			k.mu.Lock()
			k.answered[realm] = way.address
			k.mu.Unlock()
			return reply, err
		}
		failures = append(failures, fmt.Errorf("%s %s: %w", way.network, way.address, err))
		if ctx.Err() != nil {
			break
		}
	}
	return nil, because(ErrNoKDC, errors.Join(failures...), "of realm %s", realm)
}

// movesOn reports whether another KDC, or another way to the same one, may answer better.
func movesOn(code int32) bool {
	return code == errorcode.KDC_ERR_SVC_UNAVAILABLE || code == errorcode.KRB_ERR_RESPONSE_TOO_BIG
}

// askOne asks in one way, for its part of the time that is left.
func (k *kdcs) askOne(ctx context.Context, w way, request []byte, waysLeft int) ([]byte, error) {
	if deadline, bounded := ctx.Deadline(); bounded {
		var cancel context.CancelFunc
		ctx, cancel = context.WithTimeout(ctx, time.Until(deadline)/time.Duration(waysLeft))
		defer cancel()
	}
	conn, err := new(net.Dialer).DialContext(ctx, w.network, w.address)
	if err != nil {
		return nil, err
	}
	defer conn.Close()
	defer context.AfterFunc(ctx, func() { conn.Close() })()
	converse := converseTCP
	if w.network == "udp" {
		converse = converseUDP
	}
	reply, err := converse(conn, request)
	if err != nil {
		if ctx.Err() != nil {
			err = context.Cause(ctx)
		}
		return nil, err
	}
	var krbError messages.KRBError
	if parse(func() error { return krbError.Unmarshal(reply) }) == nil {
		return nil, &refusal{krbError}
	}
	return reply, nil
}

// ways gives the ways to reach the KDCs of a realm: by TCP, which every KDC speaks, and then by
// UDP, for a KDC behind a firewall that lets nothing else pass. The KDC that answered last is
// first.
func (k *kdcs) ways(ctx context.Context, realm string, size int) ([]way, error) {
	limit := k.cfg.LibDefaults.UDPPreferenceLimit
	networks := []string{"tcp"}
	if limit != 1 && size <= limit {
		networks = append(networks, "udp")
	}
	var ways []way
	var failures []error
	for _, network := range networks {
		addresses, err := k.addresses(ctx, realm, network)
		if err != nil { // many a realm has records of one network alone
			failures = append(failures, err)
			continue
		}
		for _, address := range addresses {
			ways = append(ways, way{network, address})
		}
	}
	if len(ways) == 0 && len(failures) > 0 {
		return nil, because(ErrNoKDC, errors.Join(failures...), "of realm %s", realm)
	}
	if len(ways) == 0 {
		return nil, failure(ErrNoKDC,
			"krb5.conf names no KDC of realm %s, and none is to be looked up in the DNS (dns_lookup_kdc)", realm)
	}
	return ways, nil
}

// addresses gives the KDCs of a realm that the configuration names, or the DNS where it names none.
func (k *kdcs) addresses(ctx context.Context, realm, network string) ([]string, error) {
	var addresses []string
	for _, r := range k.cfg.Realms {
		if r.Realm != realm {
			continue
		}
		for _, kdc := range r.KDC {
			if only, address, found := strings.Cut(kdc, "/"); found { // tcp/host, udp/host
				if only != network {
					continue
				}
				kdc = address
			}
			addresses = append(addresses, kdc)
		}
	}
	if len(addresses) == 0 && k.cfg.LibDefaults.DNSLookupKDC {
		_, records, err := k.dns(ctx, "kerberos", network, realm)
		if err != nil {
			return nil, err
		}
		for _, record := range records {
			host := strings.TrimSuffix(record.Target, ".")
			addresses = append(addresses, net.JoinHostPort(host, strconv.Itoa(int(record.Port))))
		}
	}
	k.mu.Lock()
	last := k.answered[realm]
	k.mu.Unlock()
	for i, address := range addresses {
		if address == last {
			addresses[0], addresses[i] = addresses[i], addresses[0]
		}
	}
	return addresses, nil
}

const (
	// largestReply bounds a KDC's reply, in bytes: tickets with the groups of a Windows domain have
	// some 64 KiB.
	largestReply = 1 << 20
	// firstRepeat is the time after which a datagram is sent again, doubled each time.
	firstRepeat = time.Second
)

// converseTCP sends a request, with its length before it, and reads the reply (RFC 4120, 7.2.2).
func converseTCP(conn net.Conn, request []byte) ([]byte, error) {
	if _, err := conn.Write(append(binary.BigEndian.AppendUint32(nil, uint32(len(request))), request...)); err != nil {
		return nil, err
	}
	var head [4]byte
	if _, err := io.ReadFull(conn, head[:]); err != nil {
		return nil, err
	}
	length := binary.BigEndian.Uint32(head[:])
	if length == 0 || length > largestReply {
		return nil, fmt.Errorf("the KDC sent a reply of %d bytes, the limit is %d", length, largestReply)
	}
	reply := make([]byte, length)
	if _, err := io.ReadFull(conn, reply); err != nil {
		return nil, err
	}
	return reply, nil
}

// converseUDP sends a request until there is a reply. The caller closes the connection when the
// time is over.
func converseUDP(conn net.Conn, request []byte) ([]byte, error) {
	reply := make([]byte, 64<<10)
	for wait := firstRepeat; ; wait *= 2 {
		if _, err := conn.Write(request); err != nil {
			return nil, err
		}
		if err := conn.SetReadDeadline(time.Now().Add(wait)); err != nil {
			return nil, err
		}
		n, err := conn.Read(reply)
		if errors.Is(err, os.ErrDeadlineExceeded) {
			continue
		}
		if err != nil {
			return nil, err
		}
		return reply[:n], nil
	}
}

// refusal is a KRB-ERROR, as an error.
type refusal struct{ messages.KRBError }

// Error gives the code, its name and the sender's text.
func (r *refusal) Error() string {
	text := "error " + errorcode.Lookup(r.ErrorCode)
	if r.EText != "" {
		text += fmt.Sprintf(" (%q)", r.EText)
	}
	return text
}

// clientRefusals and serviceRefusals explain the error codes that concern one of the principals.
var (
	clientRefusals = map[int32]string{
		errorcode.KDC_ERR_C_PRINCIPAL_UNKNOWN: "its name or realm is wrong, or it was deleted",
		errorcode.KDC_ERR_NAME_EXP:            "its entry has expired",
		errorcode.KDC_ERR_CLIENT_REVOKED:      "its entry is locked or disabled",
		errorcode.KDC_ERR_CLIENT_NOTYET:       "its entry is not valid yet",
		errorcode.KDC_ERR_WRONG_REALM:         "it belongs to another realm",
	}
	serviceRefusals = map[int32]string{
		errorcode.KDC_ERR_S_PRINCIPAL_UNKNOWN:  "the server may be known by another name or host, see WithServerPrincipal",
		errorcode.KDC_ERR_SERVICE_EXP:          "its entry has expired",
		errorcode.KDC_ERR_SERVICE_REVOKED:      "its entry is locked or disabled",
		errorcode.KDC_ERR_SERVICE_NOTYET:       "its entry is not valid yet",
		errorcode.KDC_ERR_MUST_USE_USER2USER:   "its entry is not that of a service",
		errorcode.KRB_AP_ERR_NOT_US:            "its entry is not that of a service",
		errorcode.KDC_ERR_PRINCIPAL_NOT_UNIQUE: "it has several entries of this name",
	}
)

// explained gives the error of a request as an *Error.
func (k *kdcs) explained(err error) error {
	if r, refused := err.(*refusal); refused { // a wrapped refusal is that of one KDC among several, none of which helped
		return k.explain(r)
	}
	return err
}

// explain says in words why a KDC refuses.
func (k *kdcs) explain(r *refusal) *Error {
	if words, known := clientRefusals[r.ErrorCode]; known {
		return because(ErrUnknownPrincipal, r, "%s", words)
	}
	if words, known := serviceRefusals[r.ErrorCode]; known {
		return because(ErrUnknownService, r, "%s", words)
	}
	switch r.ErrorCode {
	case errorcode.KDC_ERR_PREAUTH_FAILED, errorcode.KRB_AP_ERR_BAD_INTEGRITY, errorcode.KDC_ERR_KEY_EXPIRED:
		return because(ErrWrongKey, r, "its password or key was changed since the keytab was made, or it has expired")
	case errorcode.KRB_AP_ERR_SKEW, errorcode.KRB_AP_ERR_TKT_NYV:
		return because(ErrClockSkew, r, "it is %s here and %s at the KDC", clock(k.now()), clock(r.STime))
	case errorcode.KRB_AP_ERR_TKT_EXPIRED:
		return because(ErrTicketExpired, r, "says the KDC, where it is %s", clock(r.STime))
	case errorcode.KDC_ERR_ETYPE_NOSUPP:
		return because(ErrUnsupported, r, "the KDC has no encryption type in common with us for one of the principals, of %s",
			typeNames(supportedTypes))
	case errorcode.KDC_ERR_SVC_UNAVAILABLE:
		return because(ErrNoKDC, r, "it says that it is not available")
	}
	return because(ErrRefused, r, "by the KDC")
}
