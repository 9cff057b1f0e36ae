package gssapi

import (
	"context"
	"time"

	"github.com/jcmturner/gokrb5/v8/crypto"
	"github.com/jcmturner/gokrb5/v8/iana/keyusage"
	"github.com/jcmturner/gokrb5/v8/iana/patype"
	"github.com/jcmturner/gokrb5/v8/messages"
	"github.com/jcmturner/gokrb5/v8/types"
)

// mostRealms bounds the number of realms on the way from ours to the service's.
const mostRealms = 8

// serviceTicket fetches a ticket for a service with a ticket-granting ticket (the TGS exchange,
// RFC 4120, 3.3), by way of other realms where the service is in another one.
func (k *kdcs) serviceTicket(ctx context.Context, granting *credential, service principal) (*credential, error) {
	for range mostRealms {
		at := granting.forRealm()
		want := service
		if at != service.realm {
			want = ticketGranter(service.realm, at)
		}
		got, err := k.askTGS(ctx, at, granting, want)
		if err != nil {
			return nil, err
		}
		switch {
		case got.ticket.SName.Equal(service.name):
			if !supported(got.key.KeyType) {
				return nil, failure(ErrUnsupported, "the KDC gave a session key of %s; the server needs a key of %s",
					typeName(got.key.KeyType), typeNames(supportedTypes))
			}
			return got, nil
		case !got.grantsTickets() || got.forRealm() == at:
			return nil, failure(ErrProtocol, "the KDC of %s gave a ticket for %q in place of %q",
				at, got.ticket.SName.PrincipalNameString(), want.name.PrincipalNameString())
		}
		granting = got
	}
	return nil, failure(ErrUnknownService, "more than %d realms lie on the way to realm %s", mostRealms, service.realm)
}

// askTGS fetches one ticket from the KDC of a realm.
func (k *kdcs) askTGS(ctx context.Context, realm string, granting *credential, want principal) (*credential, error) {
	request, err := k.tgsRequest(realm, granting, want)
	if err != nil {
		return nil, because(ErrUnsupported, err, "request for a ticket")
	}
	b, err := request.Marshal()
	if err != nil {
		return nil, because(ErrUnsupported, err, "request for a ticket")
	}
	b, err = k.ask(ctx, realm, b)
	if err != nil {
		return nil, k.explained(err)
	}
	return k.readTGS(b, granting, request)
}

// readTGS reads and checks the KDC's reply.
func (k *kdcs) readTGS(b []byte, granting *credential, request *messages.TGSReq) (*credential, error) {
	var reply messages.TGSRep
	err := parse(func() error {
		if err := reply.Unmarshal(b); err != nil {
			return err
		}
		if err := reply.DecryptEncPart(granting.key); err != nil {
			return err
		}
		if _, err := reply.Verify(k.anyTime(), *request); err != nil {
			return err
		}
		return checkTicket(&reply.KDCRepFields)
	})
	if err != nil {
		return nil, because(ErrProtocol, err, "a KDC's reply")
	}
	got := credentialOf(granting.client, reply.Ticket, reply.DecryptedEncPart)
	if !got.valid(k.now()) {
		return nil, failure(ErrClockSkew, "it is %s here, and the KDC gave a ticket until %s", clock(k.now()), clock(got.end))
	}
	return got, nil
}

// tgsRequest makes the request. Its proof that we have the session key is stamped by our clock,
// where the library would use the machine's.
func (k *kdcs) tgsRequest(realm string, granting *credential, want principal) (*messages.TGSReq, error) {
	request, err := messages.NewTGSReq(granting.client.name, realm, k.cfg, granting.ticket, granting.key, want.name, false)
	if err != nil {
		return nil, err
	}
	request.ReqBody.EType = k.cfg.LibDefaults.DefaultTGSEnctypeIDs
	request.ReqBody.Till = k.now().Add(k.cfg.LibDefaults.TicketLifetime).UTC()
	body, err := request.ReqBody.Marshal()
	if err != nil {
		return nil, err
	}
	enctype, err := crypto.GetEtype(granting.key.KeyType)
	if err != nil {
		return nil, err
	}
	const usage = keyusage.TGS_REQ_PA_TGS_REQ_AP_REQ_AUTHENTICATOR_CHKSUM
	sum, err := enctype.GetChecksumHash(granting.key.KeyValue, body, usage)
	if err != nil {
		return nil, err
	}
	authenticator, err := k.authenticator(granting.client)
	if err != nil {
		return nil, err
	}
	authenticator.Cksum = types.Checksum{CksumType: enctype.GetHashID(), Checksum: sum}
	proof, err := messages.NewAPReq(granting.ticket, granting.key, authenticator)
	if err != nil {
		return nil, err
	}
	b, err := proof.Marshal()
	if err != nil {
		return nil, err
	}
	request.PAData = types.PADataSequence{{PADataType: patype.PA_TGS_REQ, PADataValue: b}}
	return &request, nil
}

// authenticator names our principal, with a time that is used once.
func (k *kdcs) authenticator(who principal) (types.Authenticator, error) {
	a, err := types.NewAuthenticator(who.realm, who.name)
	at := k.stamp()
	a.CTime, a.Cusec = at.Truncate(time.Second), at.Nanosecond()/1000
	return a, err
}
