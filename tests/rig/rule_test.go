package rig

import (
	"strings"
	"testing"
	"time"

	"github.com/go-zookeeper/zk"
)

// batch is a multi of a create, a check, a setData and a delete.
func (b *bench) batch(t *testing.T) error {
	t.Helper()
	create(t, b.direct, b.path+"/old", 0)
	_, err := b.client.Multi(
		&zk.CreateRequest{Path: b.path + "/new", Data: []byte("text"), Acl: everyone},
		&zk.CheckVersionRequest{Path: b.path, Version: -1},
		&zk.SetDataRequest{Path: b.path, Data: []byte("more"), Version: -1},
		&zk.DeleteRequest{Path: b.path + "/old", Version: -1},
	)
	return err
}

func TestRulesSeeIntoMultis(t *testing.T) {
	for _, tc := range []struct {
		op     OpCode
		suffix string // of the path; empty for a rule without one
		want   bool
	}{
		{op: OpCreate, want: true},
		{op: OpCheck, want: true},
		{op: OpSetData, want: true},
		{op: OpDelete, want: true},
		{op: OpMulti, want: true},
		{op: OpAny, want: true},
		{op: OpGetData, want: false},
		{op: OpCreate, suffix: "/new", want: true},
		{op: OpDelete, suffix: "/old", want: true},
		{op: OpCreate, suffix: "/old", want: false},
		{op: OpMulti, suffix: "/old", want: true},
		{op: OpAny, suffix: "/old", want: true},
		{op: OpMulti, suffix: "/none", want: false},
	} {
		t.Run(tc.op.String()+tc.suffix, func(t *testing.T) {
			b := newBench(t)
			rule := Rule{Op: tc.op, Action: CutBefore}
			if tc.suffix != "" {
				rule.Path = func(path string) bool { return path == b.path+tc.suffix }
			}
			fault := b.proxy.Expect(rule)
			err := b.batch(t)
			if tc.want {
				await(t, "the fault", fault.Fired())
			} else if isClosed(fault.Fired()) {
				t.Error("the fault fired")
			}
			if tc.want != (err != nil) {
				t.Errorf("the client was told %v", err)
			}
			if applied := exists(t, b.direct, b.path+"/new"); applied == tc.want {
				t.Errorf("applied: %v", applied)
			}
		})
	}
}

func TestDropReplyOfMulti(t *testing.T) {
	b := newBench(t)
	fault := b.proxy.Expect(Rule{Op: OpDelete, Action: DropReply})
	if err := b.batch(t); !lostConnection(err) {
		t.Errorf("the client was told %v", err)
	}
	await(t, "the fault", fault.Fired())
	if !exists(t, b.direct, b.path+"/new") || exists(t, b.direct, b.path+"/old") {
		t.Error("the multi was not applied")
	}
}

func TestRuleCountsRequests(t *testing.T) {
	b := newBench(t)
	mine := func(path string) bool { return strings.HasPrefix(path, b.path+"/") }
	fault := b.proxy.Expect(Rule{Op: OpCreate, Path: mine, Action: DropReply, Count: 2})
	for i, name := range []string{"/a", "/b"} {
		if isClosed(fault.Fired()) {
			t.Errorf("fired after %d", i)
		}
		b.client.forgetStates()
		if _, err := b.client.Create(b.path+name, nil, 0, everyone); !lostConnection(err) {
			t.Errorf("create %s: %v", name, err)
		}
		eventually(t, "a session again", func() bool { return b.client.saw(zk.StateHasSession) })
	}
	await(t, "the fault", fault.Fired())
	create(t, b.client, b.path+"/c", 0)
}

// A fault that was meant for a reply that never came, because the connection was
// lost before, is meant for the next one.
func TestFaultSurvivesTheConnection(t *testing.T) {
	b := newBench(t)
	b.proxy.Hold(true)
	fault := b.proxy.Expect(Rule{Op: OpCreate, Action: DropReply})
	failed := make(chan error, 1)
	go func() {
		_, err := b.client.Create(b.path+"/a", nil, 0, everyone)
		failed <- err
	}()
	eventually(t, "the node is there", func() bool { return exists(t, b.direct, b.path+"/a") })
	b.client.forgetStates()
	b.proxy.Cut()
	<-failed
	if isClosed(fault.Fired()) {
		t.Error("fired though the reply had not come")
	}
	b.proxy.Hold(false)
	eventually(t, "a session again", func() bool { return b.client.saw(zk.StateHasSession) })
	if _, err := b.client.Create(b.path+"/b", nil, 0, everyone); !lostConnection(err) {
		t.Errorf("the client was told %v", err)
	}
	await(t, "the fault", fault.Fired())
}

func TestCounts(t *testing.T) {
	b := newBench(t)
	if err := b.batch(t); err != nil {
		t.Fatal(err)
	}
	create(t, b.client, b.path+"/single", 0)
	if _, err := b.client.CreateTTL(b.path+"/brief", nil, zk.FlagTTL, everyone, time.Hour); err != nil {
		t.Fatal(err)
	}
	if _, err := b.client.Sync(b.path); err != nil {
		t.Fatal(err)
	}
	for op, want := range map[OpCode][2]int{
		OpCreate:    {1, 2},
		OpCreateTTL: {1, 1},
		OpDelete:    {0, 1},
		OpCheck:     {0, 1},
		OpMulti:     {1, 0},
		OpSync:      {1, 1},
		OpAny:       {4, 7},
		OpGetData:   {0, 0},
	} {
		if got := [2]int{b.proxy.Requests(op), b.proxy.Operations(op)}; got != want {
			t.Errorf("%v: requests and operations %v, want %v", op, got, want)
		}
	}
}
