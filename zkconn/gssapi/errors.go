package gssapi

import (
	"errors"
	"fmt"
	"time"

	"github.com/turnstile-locks/turnstile/zkconn"
)

// The kinds of failures, to be tested with errors.Is.
var (
	// ErrNoKDC: no KDC of the realm answered in time. It may pass: the connection is tried again.
	ErrNoKDC = errors.New("no KDC answers")
	// ErrUnknownPrincipal: the KDC has no entry for our principal, or one that is locked or has expired.
	ErrUnknownPrincipal = errors.New("the KDC does not know the principal")
	// ErrUnknownService: the KDC has no entry for the server's principal.
	ErrUnknownService = errors.New("the KDC does not know the server's principal")
	// ErrNameInDoubt: the KDC has no entry for the server's principal, and the DNS did not say whether the server has
	// this name: it may have another. It may pass, as with ErrNoKDC.
	ErrNameInDoubt = errors.New("the DNS does not say the server's name")
	// ErrWrongKey: the keytab's key is not the one that the KDC has.
	ErrWrongKey = errors.New("the keytab does not have the principal's present key")
	// ErrTicketExpired: the ticket of the credential cache has expired.
	ErrTicketExpired = errors.New("the ticket has expired")
	// ErrClockSkew: the clocks differ by more than is allowed, five minutes unless configured otherwise.
	ErrClockSkew = errors.New("the clocks differ too much")
	// ErrNoCredentials: the keytab or credential cache is missing, malformed, or has nothing for the principal.
	ErrNoCredentials = errors.New("no credentials")
	// ErrRefused: the KDC or the server refuses for another reason.
	ErrRefused = errors.New("refused")
	// ErrProtocol: an answer is malformed, is not for our request, or does not prove who sent it.
	ErrProtocol = errors.New("the answer is not valid")
	// ErrUnsupported: it takes something that this package does not have.
	ErrUnsupported = errors.New("not supported")
)

// Error is a failure to authenticate. Unless it is temporary, it wraps [zkconn.ErrAuthFailed], too.
type Error struct {
	// Principal is the client's principal, or words for it before a credential cache was read.
	Principal string
	// Service is the server's principal; empty where that is not known.
	Service string
	// Kind is one of the errors of this package.
	Kind error
	// Detail says what happened, and where there is one, what to do.
	Detail string
	// Err is the cause, such as the error of a file or the network; nil where there is no other
	// cause.
	Err error
}

// Error names the server's principal and the reason. The mechanism and our principal are left to
// package zkconn, which names them for every mechanism.
func (e *Error) Error() string {
	text := e.Kind.Error()
	if e.Service != "" {
		text = "for server " + e.Service + ": " + text
	}
	if e.Detail != "" {
		text += ": " + e.Detail
	}
	if e.Err != nil {
		text += ": " + e.Err.Error()
	}
	return text
}

// Unwrap gives the kind, the cause, and zkconn.ErrAuthFailed where it is final.
func (e *Error) Unwrap() []error {
	all := []error{e.Kind}
	if e.Err != nil {
		all = append(all, e.Err)
	}
	if !e.Temporary() {
		all = append(all, zkconn.ErrAuthFailed)
	}
	return all
}

// Temporary reports whether another try may succeed a moment later though nobody has changed
// anything.
func (e *Error) Temporary() bool {
	return errors.Is(e.Kind, ErrNoKDC) || errors.Is(e.Kind, ErrNameInDoubt)
}

// failure makes an error without principals; a caller that knows them fills them in.
func failure(kind error, format string, values ...any) *Error {
	return &Error{Kind: kind, Detail: fmt.Sprintf(format, values...)}
}

// because is failure with a cause.
func because(kind, cause error, format string, values ...any) *Error {
	e := failure(kind, format, values...)
	e.Err = cause
	return e
}

// named fills in the principals of an error that lacks them.
func named(err error, who, service string) error {
	var e *Error
	if !errors.As(err, &e) {
		return err
	}
	known := *e
	if known.Principal == "" {
		known.Principal = who
	}
	if known.Service == "" {
		known.Service = service
	}
	return &known
}

// clock shows a time in an error.
func clock(at time.Time) string { return at.UTC().Format(time.RFC3339) }

// parse runs a reader of bytes that others wrote. The parsers and decryption of gokrb5 panic on
// some bytes that are too short.
func parse(read func() error) (err error) {
	defer func() {
		if recover() != nil {
			err = errors.New("malformed")
		}
	}()
	return read()
}
