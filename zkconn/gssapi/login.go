package gssapi

import (
	"context"
	"math"
	"slices"
	"time"

	"github.com/jcmturner/gofork/encoding/asn1"
	"github.com/jcmturner/gokrb5/v8/config"
	"github.com/jcmturner/gokrb5/v8/credentials"
	"github.com/jcmturner/gokrb5/v8/crypto"
	"github.com/jcmturner/gokrb5/v8/iana/errorcode"
	"github.com/jcmturner/gokrb5/v8/iana/keyusage"
	"github.com/jcmturner/gokrb5/v8/iana/patype"
	"github.com/jcmturner/gokrb5/v8/messages"
	"github.com/jcmturner/gokrb5/v8/types"
)

// login fetches a ticket-granting ticket with the keys of a keytab (the AS exchange, RFC 4120, 3.1).
func (k *kdcs) login(ctx context.Context, who principal, keys *keys) (*credential, error) {
	permitted := k.cfg.LibDefaults.DefaultTktEnctypeIDs
	ours := slices.DeleteFunc(keys.types(who), func(enctype int32) bool {
		return !slices.Contains(permitted, enctype)
	})
	if len(ours) == 0 {
		return nil, failure(ErrUnsupported, "krb5.conf permits %s, and the keytab's keys are of %s",
			typeNames(permitted), typeNames(keys.types(who)))
	}
	request, err := messages.NewASReqForTGT(who.realm, k.cfg, who.name)
	if err != nil {
		return nil, because(ErrUnsupported, err, "request for a ticket")
	}
	// The KDC takes the first type for which it has a key of the principal; the session key may be
	// of another type.
	others := slices.DeleteFunc(slices.Clone(permitted), func(enctype int32) bool {
		return slices.Contains(ours, enctype)
	})
	request.ReqBody.EType = slices.Concat(ours, others)
	request.ReqBody.Till = k.now().Add(k.cfg.LibDefaults.TicketLifetime).UTC()
	reply, err := k.askAS(ctx, who.realm, &request)
	if refused, is := err.(*refusal); is && refused.ErrorCode == errorcode.KDC_ERR_PREAUTH_REQUIRED {
		var proof types.PAData
		if proof, err = k.timestamp(refused, who, keys, ours); err != nil {
			return nil, err
		}
		request.PAData = append(request.PAData, proof)
		reply, err = k.askAS(ctx, who.realm, &request)
	}
	if err != nil {
		return nil, k.explained(err)
	}
	return k.granted(who, keys, &request, reply)
}

// askAS sends a request for a ticket-granting ticket. Its error is a *refusal or an *Error.
func (k *kdcs) askAS(ctx context.Context, realm string, request *messages.ASReq) ([]byte, error) {
	b, err := request.Marshal()
	if err != nil {
		return nil, because(ErrUnsupported, err, "request for a ticket")
	}
	return k.ask(ctx, realm, b)
}

// timestamp proves to the KDC that we have the key: it is the time, encrypted (PA-ENC-TIMESTAMP).
func (k *kdcs) timestamp(refused *refusal, who principal, keys *keys, ours []int32) (types.PAData, error) {
	enctype, err := preauthType(refused, ours)
	if err != nil {
		return types.PAData{}, err
	}
	key, version := keys.newest(who, enctype)
	at := k.stamp()
	plain, err := asn1.Marshal(types.PAEncTSEnc{PATimestamp: at, PAUSec: at.Nanosecond() / 1000})
	if err == nil {
		var sealed types.EncryptedData
		if sealed, err = crypto.GetEncryptedData(plain, key, keyusage.AS_REQ_PA_ENC_TIMESTAMP, version); err == nil {
			plain, err = sealed.Marshal()
		}
	}
	if err != nil {
		return types.PAData{}, because(ErrUnsupported, err, "encrypted timestamp")
	}
	return types.PAData{PADataType: patype.PA_ENC_TIMESTAMP, PADataValue: plain}, nil
}

// preauthType gives the encryption type that the KDC demands for the timestamp.
func preauthType(refused *refusal, ours []int32) (enctype int32, err error) {
	err = parse(func() error {
		var hints types.PADataSequence
		if err := hints.Unmarshal(refused.EData); err != nil {
			return err
		}
		for _, hint := range hints {
			if hint.PADataType != patype.PA_ETYPE_INFO2 {
				continue
			}
			infos, err := hint.GetETypeInfo2()
			if err != nil {
				return err
			}
			for _, info := range infos {
				if slices.Contains(ours, info.EType) {
					enctype = info.EType
					return nil
				}
			}
		}
		return nil
	})
	if err != nil {
		return 0, because(ErrProtocol, err, "what the KDC says of pre-authentication")
	}
	if enctype == 0 {
		return 0, failure(ErrWrongKey, "the KDC has keys of other encryption types than %s", typeNames(ours))
	}
	return enctype, nil
}

// granted reads and checks the KDC's reply.
func (k *kdcs) granted(who principal, keys *keys, request *messages.ASReq, b []byte) (*credential, error) {
	var reply messages.ASRep
	if err := parse(func() error { return reply.Unmarshal(b) }); err != nil {
		return nil, because(ErrProtocol, err, "a KDC's reply")
	}
	with := credentials.NewFromPrincipalName(who.name, who.realm).WithKeytab(keys.keytab)
	if err := parse(func() error { _, err := reply.DecryptEncPart(with); return err }); err != nil {
		return nil, because(ErrWrongKey, err, "the KDC's reply cannot be decrypted with it")
	}
	verified := parse(func() error {
		if _, err := reply.Verify(k.anyTime(), with, *request); err != nil {
			return err
		}
		return checkTicket(&reply.KDCRepFields)
	})
	if verified != nil {
		return nil, because(ErrProtocol, verified, "a KDC's reply")
	}
	at := reply.DecryptedEncPart.AuthTime
	if skew := k.now().Sub(at).Abs(); skew > k.cfg.LibDefaults.Clockskew {
		return nil, failure(ErrClockSkew, "it is %s here and %s at the KDC", clock(k.now()), clock(at))
	}
	return credentialOf(who, reply.Ticket, reply.DecryptedEncPart), nil
}

// anyTime is the configuration for the library's checks, which go by the machine's clock. It has
// them accept any time: this package checks times itself, by its own clock.
func (k *kdcs) anyTime() *config.Config {
	cfg := *k.cfg
	cfg.LibDefaults.Clockskew = math.MaxInt64
	return &cfg
}

// stamp gives a time that must never be repeated, to the microsecond: servers take two
// authenticators of the same time for a replay.
func (k *kdcs) stamp() time.Time {
	k.mu.Lock()
	defer k.mu.Unlock()
	at := k.now().UTC().Truncate(time.Microsecond)
	// Not when the clock was set back by more: the stamps would be in the future until it has
	// caught up.
	if !at.After(k.stamped) && k.stamped.Sub(at) < time.Second {
		at = k.stamped.Add(time.Microsecond)
	}
	k.stamped = at
	return at
}

// keytabSource logs in with a keytab. It is read at each login, for keys are changed now and then.
type keytabSource struct {
	path string
	who  principal
	kdcs *kdcs
}

func (s *keytabSource) owner() string { return s.who.String() }

func (s *keytabSource) realm() string { return s.who.realm }

func (s *keytabSource) refresh(context.Context) (changed bool, err error) { return false, nil }

func (s *keytabSource) find(principal) *credential { return nil }

func (s *keytabSource) login(ctx context.Context) (*credential, error) {
	var read *keys
	err := patiently(ctx, func() (err error) {
		if read, err = readKeys(s.path); err == nil && len(read.of(s.who)) == 0 {
			err = failure(ErrNoCredentials, "keytab %s has no key of %s", s.path, s.who)
		}
		return err
	})
	if err != nil {
		return nil, err
	}
	return s.kdcs.login(ctx, s.who, read)
}
