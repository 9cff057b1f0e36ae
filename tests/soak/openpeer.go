package main

import (
	"context"
	"fmt"
	"log/slog"
)

// openPeer opens the client that the options name.
func openPeer(ctx context.Context, o options, log *slog.Logger) (peer, error) {
	switch o.peer {
	case peerTurnstile:
		return openTurnstile(ctx, o, log)
	case peerZkLock, peerZkNaive:
		return openZkLock(ctx, o, log)
	}
	return nil, fmt.Errorf("soak: no peer %q", o.peer)
}
