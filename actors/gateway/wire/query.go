package wire

import (
	"reflect"

	"github.com/turnstile-locks/turnstile/messages"
)

// FromQuery converts a query of package messages; nil for a query that does not cross. Queries that
// read many locks, or go on for long, need a session.
func FromQuery(id string, query any) *Query {
	q := &Query{Version: Version, Id: id}
	if !put(q, query, asItIs) {
		return nil
	}
	return q
}

// Messages gives the query; nil for one that this program does not know.
func (x *Query) Messages() any { return what(x) }

// FromAnswer gives the answer to a query as it crosses.
func FromAnswer(id string, answer any) *Answer {
	a := &Answer{Version: Version, Id: id}
	if put(a, answer, Valid) {
		why := reflect.ValueOf(answer).Elem().FieldByName("Refusal").Interface().(messages.Refusal)
		a.Reason, a.Detail = Valid(string(why.Reason)), Valid(why.Detail)
	}
	return a
}

// Refuse is the answer to a query that was not carried out.
func Refuse(id string, why messages.Reason, detail string) *Answer {
	return &Answer{Version: Version, Id: id, Reason: string(why), Detail: detail}
}

// Messages gives the answer to a query; nil where the query was not carried out: Refusal says why.
func (x *Answer) Messages() any {
	answer := what(x)
	if answer != nil {
		reflect.ValueOf(answer).Elem().FieldByName("Refusal").Set(reflect.ValueOf(x.Refusal()))
	}
	return answer
}

// Refusal says why a query was refused.
func (x *Answer) Refusal() messages.Refusal {
	return messages.Refusal{Reason: messages.Reason(x.GetReason()), Detail: x.GetDetail()}
}

// FromPredecessor gives the contender that a request waits for as it crosses, zero where none is
// known. number counts the predecessors of the request.
func FromPredecessor(number uint64, c messages.Contender) *Predecessor {
	if !c.HasNode() {
		return &Predecessor{Number: number}
	}
	x := &Contender{}
	convert(x, &c, Valid)
	return &Predecessor{Number: number, Contender: x}
}

// Messages gives the contender; zero where none is known.
func (x *Predecessor) Messages() (c messages.Contender) {
	convert(&c, x.GetContender(), asItIs)
	return c
}
