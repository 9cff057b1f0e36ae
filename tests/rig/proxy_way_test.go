package rig

import (
	"testing"
	"time"

	"github.com/go-zookeeper/zk"
)

// Up stalls requests alone: the server's events still reach the client.
func TestStallUpLetsRepliesPass(t *testing.T) {
	b := newBench(t)
	_, _, changed, err := b.client.ChildrenW(b.path)
	if err != nil {
		t.Fatal(err)
	}
	b.proxy.Stall(Up)
	b.proxy.Stall(Up)
	created := make(chan struct{})
	go func() {
		defer close(created)
		if _, err := b.client.Create(b.path+"/a", nil, 0, everyone); err != nil {
			t.Error(err)
		}
	}()
	create(t, b.direct, b.path+"/b", 0)
	select {
	case event := <-changed:
		if event.Type != zk.EventNodeChildrenChanged {
			t.Errorf("the client was told %v", event)
		}
	case <-time.After(patience):
		t.Error("an event does not pass")
	}
	if isClosed(created) || exists(t, b.direct, b.path+"/a") {
		t.Error("a request has passed")
	}
	b.proxy.Resume(Up)
	await(t, "the reply", created)
}

// Frames that are delayed keep their order, also when the delay becomes shorter.
func TestDelayOfAProxy(t *testing.T) {
	b := newBench(t)
	const delay = 100 * time.Millisecond
	for _, way := range []Way{Up, Down} {
		b.proxy.Delay(way, delay)
		begin := time.Now()
		first := make(chan string, 2)
		go func() {
			defer func() { first <- way.String() }() // also when exists ends this goroutine
			exists(t, b.client, b.path)
		}()
		exists(t, b.client, b.path)
		if took := time.Since(begin); took < delay {
			t.Errorf("%s: a read took %v, with a delay of %v", <-first, took, delay)
		}
		<-first
		b.proxy.Delay(way, 0)
	}
}
