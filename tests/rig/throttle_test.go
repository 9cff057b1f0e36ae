package rig

import (
	"strings"
	"testing"
)

// A request that is throttled is not carried out. Its answer says so and comes at its place, on a connection that stays.
func TestThrottleDoesNotApplyTheRequest(t *testing.T) {
	b := newBench(t)
	session := b.client.SessionID()
	b.client.forgetStates()
	fault := b.proxy.Expect(Rule{Op: OpAny, Action: Throttle, Count: 2})
	if _, err := b.client.Create(b.path+"/a", nil, 0, everyone); err == nil || !strings.Contains(err.Error(), "-127") {
		t.Errorf("the client was told %v", err)
	}
	if err := b.batch(t); err == nil {
		t.Error("the multi was answered")
	}
	await(t, "the fault", fault.Fired())
	for _, name := range []string{"/a", "/new"} {
		if exists(t, b.direct, b.path+name) {
			t.Error("the request was applied")
		}
	}
	create(t, b.client, b.path+"/b", 0) // the fault is used up
	if b.client.saw(0) || b.client.SessionID() != session {
		t.Error("the connection was lost")
	}
}

// Servers never throttle what ends a session.
func TestCloseSessionIsNotThrottled(t *testing.T) {
	b := newBench(t)
	fault := b.proxy.Expect(Rule{Op: OpAny, Action: Throttle})
	b.client.Close()
	if fault.Disarm() != 0 {
		t.Error("it was throttled")
	}
}

// A fault that is disarmed tells how many requests it has caught, and catches no more.
func TestDisarm(t *testing.T) {
	b := newBench(t)
	fault := b.proxy.Expect(Rule{Op: OpCreate, Action: Throttle, Count: 5})
	if _, err := b.client.Create(b.path+"/a", nil, 0, everyone); err == nil {
		t.Error("it was not throttled")
	}
	if n := fault.Disarm(); n != 1 {
		t.Errorf("it has caught %d", n)
	}
	create(t, b.client, b.path+"/a", 0)
	if n := fault.Disarm(); n != 1 {
		t.Errorf("it has caught %d", n)
	}
}
