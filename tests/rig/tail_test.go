package rig

import (
	"bytes"
	"testing"
)

func TestTailKeepsTheEnd(t *testing.T) {
	var log Tail
	for range 3 {
		_, _ = log.Write(bytes.Repeat([]byte("x"), tailLimit/2))
	}
	_, _ = log.Write([]byte("end"))
	if got := log.String(); len(got) != tailLimit || got[len(got)-3:] != "end" {
		t.Errorf("%d bytes, ending in %q", len(got), got[len(got)-3:])
	}
}
