package metering

import (
	"cmp"
	"slices"

	"go.opentelemetry.io/otel/attribute"

	"github.com/turnstile-locks/turnstile/messages"
)

// Scope is the name of the instrumentation scope.
const Scope = "github.com/turnstile-locks/turnstile"

// The keys of the attributes.
const (
	KeyMode       = attribute.Key("turnstile.lock.mode")
	KeyReason     = attribute.Key("turnstile.lock.reason")
	KeyHandoff    = attribute.Key("turnstile.lock.handoff")
	KeyRevocation = attribute.Key("turnstile.lock.revocation")
	KeyCause      = attribute.Key("turnstile.cause")
	KeyState      = attribute.Key("turnstile.session.state")
	KeyErrorType  = attribute.Key("error.type")
)

// The values of KeyHandoff, KeyRevocation, KeyState and KeyCause. See the package doc.
const (
	HandoffLocal  = "local"
	HandoffRemote = "remote"

	RevocationAsked  = "asked"
	RevocationForced = "forced"

	StateConnecting   = "connecting"
	StateConnected    = "connected"
	StateDisconnected = "disconnected"

	CauseDisconnected   = "disconnected"
	CauseSilent         = "silent"
	CauseUnknownOutcome = "unknown_outcome"
	CauseNodeGone       = "node_gone"
	CauseNotListed      = "not_listed"
	CauseLateGrant      = "late_grant"
	CauseExpired        = "expired"
	CauseOther          = "other"
)

// Labels makes attributes of a lock path: see actors.WithMeterLabels.
type Labels func(path string) []attribute.KeyValue

// Kind is the kind of an instrument.
type Kind string

// The kinds, as OpenTelemetry calls them.
const (
	Counter       Kind = "counter"
	UpDownCounter Kind = "updowncounter"
	Gauge         Kind = "gauge"
	Histogram     Kind = "histogram"
)

// Instrument describes one instrument.
type Instrument struct {
	Name       string
	Kind       Kind
	Unit       string
	Attributes []attribute.Key
	Meaning    string
	Bounds     []float64
}

var (
	durations = []float64{.0001, .00025, .0005, .001, .0025, .005, .01, .025, .05, .1, .25, .5, 1, 2.5, 5, 10, 30, 60, 300, 1800, 7200}
	sizes     = []float64{1, 2, 4, 8, 16, 32, 64, 128, 256}
)

// Instruments lists all instruments, as the table of the package's documentation does. Those of a session are made from it.
func Instruments() []Instrument {
	return []Instrument{
		{"turnstile.lock.acquire.duration", Histogram, "s", []attribute.Key{KeyMode, KeyErrorType},
			"from asking for a lock until it is held, or the request has given up", durations},
		{"turnstile.lock.hold.duration", Histogram, "s", []attribute.Key{KeyMode, KeyReason},
			"from the grant until the lock is given back or lost", durations},
		{"turnstile.lock.handoff.duration", Histogram, "s", []attribute.Key{KeyMode, KeyHandoff},
			"from the end of the one before until the lock is held", durations},
		{"turnstile.lock.held", UpDownCounter, "{lock}", []attribute.Key{KeyMode},
			"locks that are held now", nil},
		{"turnstile.lock.waiting", UpDownCounter, "{request}", []attribute.Key{KeyMode},
			"requests that wait for their lock now", nil},
		{"turnstile.lock.grants", Counter, "{grant}", []attribute.Key{KeyMode},
			"locks that were granted", nil},
		{"turnstile.lock.losses", Counter, "{loss}", []attribute.Key{KeyMode, KeyReason},
			"locks that were held and lost", nil},
		{"turnstile.lock.revocations", Counter, "{revocation}", []attribute.Key{KeyMode, KeyRevocation},
			"holds that somebody asked for, and that were ended by force", nil},
		{"turnstile.lock.recoveries", Counter, "{recovery}", []attribute.Key{KeyMode, KeyCause},
			"requests that had to find out where they stand", nil},
		{"turnstile.session.count", UpDownCounter, "{session}", []attribute.Key{KeyState},
			"sessions that are in a state now", nil},
		{"turnstile.session.lease.remaining", Gauge, "s", nil,
			"how long the leases of a session that holds locks last unless it hears of the ensemble; of several sessions, the least", nil},
		{"turnstile.session.interruptions", Counter, "{interruption}", []attribute.Key{KeyCause},
			"what came between sessions and their servers", nil},
		{"turnstile.session.batches", Counter, "{batch}", nil,
			"creates and deletes that were sent, those that share a transaction as one", nil},
		{"turnstile.session.batch.size", Histogram, "{operation}", nil,
			"creates and deletes that were sent together", sizes},
		{"turnstile.session.weight", UpDownCounter, "By", nil,
			"what the ephemeral nodes of sessions weigh in the transactions that end them", nil},
		{"turnstile.session.inside", UpDownCounter, "{request}", nil,
			"requests that wait inside their session, without a node", nil},
	}
}

// Values lists the values of an attribute, in order, for dashboards and alerts; none for a key of
// another package.
func Values(of attribute.Key) []string {
	var all []string
	switch of {
	case KeyMode:
		for m := messages.Exclusive; m.Known(); m++ {
			all = append(all, m.String())
		}
	case KeyReason, KeyErrorType:
		all = append(all, other)
		for _, reason := range messages.Reasons() {
			all = append(all, reason.Word())
		}
	case KeyHandoff:
		all = []string{HandoffLocal, HandoffRemote}
	case KeyRevocation:
		all = []string{RevocationAsked, RevocationForced}
	case KeyCause:
		all = []string{CauseDisconnected, CauseSilent, CauseUnknownOutcome, CauseNodeGone, CauseNotListed, CauseLateGrant,
			CauseExpired, CauseOther}
	case KeyState:
		all = []string{StateConnecting, StateConnected, StateDisconnected}
	}
	slices.Sort(all)
	return all
}

const other = "_OTHER"

// Reason gives a reason in one word, for error.type and turnstile.lock.reason; "_OTHER" for one
// that is not of package messages.
func Reason(why messages.Reason) string {
	return cmp.Or(why.Word(), other)
}
