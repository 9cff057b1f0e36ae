package rig

import (
	"context"
	"io"
	"testing"
	"testing/synctest"
	"time"
)

// Bytes that a flow holds back come in order when it is healed, each once, and nothing overtakes.
func TestFlowKeepsOrder(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var f flow
		done, cancel := context.WithCancel(t.Context())
		defer cancel()
		sent, ended := make(chan byte), make(chan bool)
		got := make(chan byte, 10)
		go func() {
			ended <- f.carry(stream{
				done: done,
				read: func() ([]byte, error) {
					b, open := <-sent
					if !open {
						return nil, io.EOF
					}
					return []byte{b}, nil
				},
				deliver: func(p []byte) bool { got <- p[0]; return true },
				cut:     func() {},
			})
		}()
		expect := func(want string) {
			t.Helper()
			synctest.Wait()
			var arrived []byte
			for len(got) > 0 {
				arrived = append(arrived, <-got)
			}
			if string(arrived) != want {
				t.Errorf("%q has arrived, want %q", arrived, want)
			}
		}
		sent <- 'a'
		expect("a")
		f.slow(time.Second)
		sent <- 'b'
		expect("")
		f.slow(0)
		sent <- 'c'
		expect("") // c waits behind b
		time.Sleep(time.Second)
		expect("bc")
		f.stall()
		sent <- 'd'
		time.Sleep(time.Minute)
		f.stall()
		expect("")
		close(sent)
		f.resume()
		expect("d")
		if !<-ended {
			t.Error("a stream that was read to its end counts as cut")
		}
	})
}

// Cutting a connection ends what waits in it.
func TestFlowEndsWhenCut(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var f flow
		f.stall()
		done, cancel := context.WithCancel(t.Context())
		ended := make(chan bool)
		go func() {
			ended <- f.carry(stream{
				done:    done,
				read:    func() ([]byte, error) { <-done.Done(); return []byte("late"), io.EOF },
				deliver: func([]byte) bool { t.Error("delivered after the cut"); return true },
				cut:     cancel,
			})
		}()
		synctest.Wait()
		cancel()
		if <-ended {
			t.Error("a stream that was cut counts as whole")
		}
	})
}
