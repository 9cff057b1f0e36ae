package relay_test

import (
	"reflect"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/turnstile-locks/turnstile/actors/gateway/internal/relay"
	"github.com/turnstile-locks/turnstile/messages"
)

// Whether a field of a request that has queued at one gateway is the same at the next one, where the
// request is new.
const (
	same    = "as it was asked for"
	changes = "changed by Requester.send"
)

// atTheNext has a row for every field of messages.Acquire, so that a new field is thought about.
var atTheNext = map[string]string{
	"Path": same, "Mode": same, "Name": same, "Naming": same, "Permits": same, "Weight": same, "WatchAll": same,
	"Timeout": changes, "Try": same, "TellMore": same, "Grace": same, "Beside": same,
	"Owner": same, "Caller": same, "Deadlocks": same, "Label": same, "Reclaim": same, "Priority": same,
}

// TestEveryFieldGoesOn: a request goes on to the next gateway with every field as it was asked for, but
// for what has been used up where it queued before.
func TestEveryFieldGoesOn(t *testing.T) {
	var want messages.Acquire
	setAll(t, reflect.ValueOf(&want).Elem())
	r := relay.NewRequester("r", 2, want)
	require.Equal(t, want, wantOf(t, r.Begin(0)), "at the first gateway")
	watching := &messages.Transition{From: messages.StateCreating, To: messages.StateWatching}
	r.Reply(relay.Instant(time.Second), relay.Reply{ID: r.ID(), Gateway: 1, Number: 1, Every: time.Second, First: 1,
		Events: []relay.Event{{Notice: watching}}})
	require.Equal(t, messages.StateWatching, r.State())
	r.Wake(relay.Instant(3 * time.Second))
	out := r.Reply(relay.Instant(4*time.Second), relay.Reply{ID: r.ID(), Gateway: 1, Number: 2, Acceptance: relay.Closing})
	require.Equal(t, 1, r.Gateway())
	next := wantOf(t, out)
	for _, f := range reflect.VisibleFields(reflect.TypeFor[messages.Acquire]()) {
		asked, now := reflect.ValueOf(want).FieldByIndex(f.Index), reflect.ValueOf(next).FieldByIndex(f.Index)
		switch atTheNext[f.Name] {
		case same:
			require.Equal(t, asked.Interface(), now.Interface(), f.Name)
		case changes:
			require.NotEqual(t, asked.Interface(), now.Interface(), f.Name)
		default:
			t.Errorf("%s has no row: should it be another at the next gateway?", f.Name)
		}
	}
	require.Equal(t, want.Timeout-4*time.Second, next.Timeout, "the rest of it")
}

// setAll sets every field of a struct to something that is not zero.
func setAll(t *testing.T, v reflect.Value) {
	t.Helper()
	switch v.Kind() {
	case reflect.Struct:
		for i := range v.NumField() {
			setAll(t, v.Field(i))
		}
	case reflect.String:
		v.SetString("/some text")
	case reflect.Bool:
		v.SetBool(true)
	case reflect.Int, reflect.Int64:
		v.SetInt(int64(time.Hour))
	case reflect.Uint8:
		v.SetUint(1)
	default:
		t.Fatalf("a field of kind %v", v.Kind())
	}
}

// wantOf gives what the last sending with a request asks for.
func wantOf(t *testing.T, out []relay.Output) (want messages.Acquire) {
	t.Helper()
	found := false
	for _, o := range out {
		if s, is := o.(relay.Send); is && s.Request.Want != nil {
			want, found = *s.Request.Want, true
		}
	}
	require.True(t, found, "nothing is asked for: %v", out)
	return want
}
