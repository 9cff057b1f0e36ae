package coordinator_test

import (
	"reflect"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/turnstile-locks/turnstile/actors/internal/carrier"
	"github.com/turnstile-locks/turnstile/actors/internal/coordinator"
	"github.com/turnstile-locks/turnstile/messages"
)

// inTheNode says of every field of messages.Acquire whether the contender's node tells of it: its
// data, by carrier.OwnerOf, or its name, by Spec.Style. Other sessions need not know the rest.
var inTheNode = map[string]bool{
	"Path": false, "Mode": true, "Name": true, "Naming": true, "Permits": false, "Weight": true, "WatchAll": false,
	"Timeout": false, "Try": false, "TellMore": false, "Grace": false, "Owner": true, "Beside": false,
	"Caller": true, "Deadlocks": true, "Label": true, "Reclaim": true, "Priority": true,
}

// TestWhatANodeTells: no field is written into nodes, or left out, by mistake.
func TestWhatANodeTells(t *testing.T) {
	of := reflect.TypeFor[messages.Acquire]()
	base := messages.Acquire{Path: "/a", Mode: messages.Semaphore, Permits: 9}
	spec := func(want messages.Acquire) *coordinator.Spec {
		return coordinator.NewSpec(&want, "guid", "by", time.Unix(1, 0))
	}
	for i := range of.NumField() {
		other := base
		alter(t, reflect.ValueOf(&other).Elem().Field(i))
		a, b := spec(base), spec(other)
		tells := a.Style != b.Style || carrier.OwnerOf(a) != carrier.OwnerOf(b)
		name := of.Field(i).Name
		require.Contains(t, inTheNode, name, "it has no row: does the node tell of it?")
		require.Equal(t, inTheNode[name], tells, name)
	}
	require.Len(t, inTheNode, of.NumField(), "a row is left of a field that is gone")
}

// alter gives a field another value.
func alter(t *testing.T, field reflect.Value) {
	t.Helper()
	switch field.Kind() {
	case reflect.String:
		field.SetString(field.String() + "x")
	case reflect.Bool:
		field.SetBool(!field.Bool())
	case reflect.Int, reflect.Int64:
		field.SetInt(field.Int() + 2)
	case reflect.Uint8:
		field.SetUint(field.Uint() ^ 1)
	case reflect.Struct:
		for i := range field.NumField() {
			alter(t, field.Field(i))
		}
	default:
		require.Fail(t, "no other value", field.Kind())
	}
}
