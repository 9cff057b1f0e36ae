package machine_test

import (
	"cmp"
	"reflect"
	"strings"
	"testing"

	"github.com/cockroachdb/datadriven"
	"github.com/stretchr/testify/require"

	"github.com/turnstile-locks/turnstile/actors/machine"
	"github.com/turnstile-locks/turnstile/messages"
)

// kindNamed finds an event by the name that String gives it.
func kindNamed(name string) (machine.Kind, bool) {
	for _, k := range machine.Kinds() {
		if k.String() == name {
			return k, true
		}
	}
	return 0, false
}

// answers reports whether an event is a reply or a timer that carries the number of an operation.
func answers(k machine.Kind) bool {
	return k >= machine.Created && k <= machine.Unknown
}

// parseEvent reads the words of a step: see TestTraces.
func parseEvent(t *testing.T, d *datadriven.TestData, m machine.Machine) machine.Event {
	t.Helper()
	if len(d.CmdArgs) == 0 {
		d.Fatalf(t, "step needs an event")
	}
	kind, ok := kindNamed(d.CmdArgs[0].Key)
	if !ok {
		d.Fatalf(t, "no event is called %q", d.CmdArgs[0].Key)
	}
	ev := machine.Event{Kind: kind}
	if answers(kind) {
		ev.Op = m.Op
	}
	flags := map[string]*bool{
		"missing": &ev.Missing, "first": &ev.First,
		"exhausted": &ev.Exhausted, "unlock": &ev.Unlock, "lease": &ev.Lease,
	}
	for _, arg := range d.CmdArgs[1:] {
		if flag := flags[arg.Key]; flag != nil {
			arg.ExpectNumVals(t, 0)
			*flag = true
			continue
		}
		switch arg.Key {
		case "op":
			arg.Scan(t, 0, &ev.Op)
		case "node":
			ev.Node = arg.SingleVal(t)
		case "token":
			var token int64
			arg.Scan(t, 0, &token)
			ev.Token = messages.Token(token)
		case "places":
			arg.Scan(t, 0, &ev.Places)
		case "before":
			arg.Scan(t, 0, &ev.Before)
		case "permits":
			arg.Scan(t, 0, &ev.Permits)
		case "predecessor":
			ev.Predecessor = arg.SingleVal(t)
		case "overdue":
			ev.Overdue = cmp.Or(messages.Reason(words(arg)), messages.ReasonLeaseOver)
		case "reason":
			ev.Reason = messages.Reason(words(arg))
		case "detail":
			ev.Detail = words(arg)
		default:
			d.Fatalf(t, "an event has no %q", arg.Key)
		}
	}
	return ev
}

// words puts a value in parentheses together again: the parser splits it at commas.
func words(arg datadriven.CmdArg) string { return strings.Join(arg.Vals, ", ") }

// TestStoriesCanSetEveryField of an event: each is a word of a step.
func TestStoriesCanSetEveryField(t *testing.T) {
	fields := reflect.VisibleFields(reflect.TypeFor[machine.Event]())
	for _, field := range fields {
		if field.Name == "Kind" {
			continue
		}
		word := datadriven.CmdArg{Key: strings.ToLower(field.Name), Vals: []string{"7"}}
		if field.Type.Kind() == reflect.Bool {
			word.Vals = nil
		}
		step := datadriven.TestData{Cmd: "step", CmdArgs: []datadriven.CmdArg{{Key: machine.Created.String()}, word}}
		ev := parseEvent(t, &step, machine.Machine{Op: 3})
		require.False(t, reflect.ValueOf(ev).FieldByIndex(field.Index).IsZero(), field.Name)
	}
	require.Greater(t, len(fields), 10)
}
