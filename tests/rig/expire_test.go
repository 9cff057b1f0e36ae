package rig

import (
	"errors"
	"testing"
	"time"

	"github.com/go-zookeeper/zk"
)

func TestExpireSession(t *testing.T) {
	ctx := testContext(t)
	server := shared(t)
	direct := connect(t, server.Addr())
	proxy := NewProxy(t, server.Addr())
	if _, _, ok := proxy.Session(); ok {
		t.Error("a session before any client came")
	}
	victim := connect(t, proxy.Addr())
	mortal := create(t, victim, freshPath(t, direct)+"/mortal", zk.FlagEphemeral)
	id, password, ok := proxy.Session()
	if !ok || id != victim.SessionID() {
		t.Fatalf("session %x, %v", id, ok)
	}

	if err := ExpireSession(ctx, server.Addr(), id, []byte("0123456789abcdef")); !errors.Is(err, ErrNoSession) {
		t.Errorf("with a wrong password: %v", err)
	}
	if !exists(t, direct, mortal) {
		t.Error("a wrong password ended the session")
	}
	begin := time.Now()
	if err := ExpireSession(ctx, server.Addr(), id, password); err != nil {
		t.Fatal(err)
	}
	t.Logf("expired in %v", time.Since(begin))
	if exists(t, direct, mortal) {
		t.Error("the session's node is still there")
	}
	eventually(t, "the client knows", func() bool { return victim.saw(zk.StateExpired) })
	if err := ExpireSession(ctx, server.Addr(), id, password); !errors.Is(err, ErrNoSession) {
		t.Errorf("again: %v", err)
	}
}
