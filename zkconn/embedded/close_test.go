package embedded_test

import (
	"fmt"
	"net"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"github.com/turnstile-locks/turnstile/zkconn/embedded"
	"go.uber.org/goleak"
)

// Close ends every goroutine of the server, whatever its clients are doing.
func TestCloseLeavesNothing(t *testing.T) {
	for name, test := range map[string]func(t *testing.T, s *embedded.Server, clients []*rawClient){
		"idle": func(*testing.T, *embedded.Server, []*rawClient) {},
		"held by a fault": func(t *testing.T, s *embedded.Server, clients []*rawClient) {
			fault := inject(t, s, embedded.Fault{Op: embedded.OpExists, Count: -1, Action: embedded.HoldReplies})
			for _, c := range clients {
				c.send(embedded.OpExists, "/", false)
			}
			clients[0].awaitHits(fault, len(clients))
		},
		"held by a replica": func(t *testing.T, s *embedded.Server, clients []*rawClient) {
			s.Replica(0).HoldReplies()
			for _, c := range clients {
				c.send(embedded.OpExists, "/", false)
			}
		},
		"held for a time": func(t *testing.T, s *embedded.Server, clients []*rawClient) {
			fault := inject(t, s, embedded.Fault{Op: embedded.OpExists, Action: embedded.HoldReplies, Delay: time.Hour})
			clients[0].send(embedded.OpExists, "/", false)
			require.NoError(t, fault.Wait(t.Context()))
		},
		"parked": func(t *testing.T, s *embedded.Server, clients []*rawClient) {
			i := followers(s)[0]
			s.Replica(i).CutOff()
			for _, c := range clients[2*i : 2*i+2] {
				c.send(embedded.OpCreate, createOf("/a", plain))
			}
		},
		"no majority": func(t *testing.T, s *embedded.Server, clients []*rawClient) {
			s.Replica(0).Stop()
			s.Replica(1).Stop()
		},
		"no handshake": func(t *testing.T, s *embedded.Server, clients []*rawClient) {
			for i := range s.Replicas() {
				dialRaw(t, s, i)
				overNetwork(t, s.Replica(i).Addr())
			}
		},
	} {
		t.Run(name, func(t *testing.T) {
			around := goleak.IgnoreCurrent()
			s, err := embedded.Start(embedded.WithReplicas(3))
			require.NoError(t, err)
			var clients []*rawClient
			for i := range s.Replicas() {
				network := overNetwork(t, s.Replica(i).Addr())
				require.True(t, network.open(time.Minute))
				clients = append(clients, network, openRaw(t, s, i, time.Minute))
			}
			test(t, s, clients)
			s.Close()
			for _, c := range clients {
				for c.take() != nil {
					// what was sent before it closed
				}
			}
			goleak.VerifyNone(t, around)
			s.Close()
		})
	}
}

// Clients that never read do not keep the server from closing, however much waits for them.
func TestCloseWithClientsThatNeverRead(t *testing.T) {
	around := goleak.IgnoreCurrent()
	s, err := embedded.Start()
	require.NoError(t, err)
	writer := openRaw(t, s, 0, time.Minute)
	writer.call(embedded.OpCreate, "/large", make([]byte, 500_000), openACL, plain).must()
	asked := inject(t, s, embedded.Fault{Op: embedded.OpGetData, Count: -1})
	for i := range 4 {
		dial := s.Dialer()
		if i%2 == 1 {
			dial = net.DialTimeout
		}
		stream, err := dial("tcp", s.Addr(), patience)
		require.NoError(t, err)
		defer func() { _ = stream.Close() }()
		deaf := &rawClient{t: t, stream: stream}
		deaf.greet(0, time.Minute, 0, make([]byte, 16))
		for range 20 {
			deaf.send(embedded.OpGetData, "/large", false)
		}
	}
	writer.awaitHits(asked, 80)
	s.Close()
	writer.closed()
	goleak.VerifyNone(t, around)
}

// Close while clients connect, and again from several goroutines: a client that comes too late is
// refused.
func TestCloseWhileClientsConnect(t *testing.T) {
	around := goleak.IgnoreCurrent()
	for range 10 {
		s, err := embedded.Start()
		require.NoError(t, err)
		open := make(chan struct{}, 1)
		var all sync.WaitGroup
		for i := range 8 {
			dial := s.Dialer()
			if i%2 == 1 {
				dial = net.DialTimeout
			}
			all.Go(func() {
				for connectOnce(dial, s.Addr()) {
					select {
					case open <- struct{}{}:
					default:
					}
				}
			})
		}
		<-open
		all.Go(s.Close)
		s.Close()
		all.Wait()
		require.NoError(t, s.Replica(0).Start(), "it does nothing")
		require.Error(t, dialAgain(s), "a closed server stays closed")
	}
	goleak.VerifyNone(t, around)
}

// connectOnce opens a session and leaves. It reports false when it was not let in.
func connectOnce(dial func(network, addr string, timeout time.Duration) (net.Conn, error), addr string) bool {
	stream, err := dial("tcp", addr, patience)
	if err != nil {
		return false
	}
	defer func() { _ = stream.Close() }()
	frame := encode(int32(0), int64(0), int32(5000), int64(0), make([]byte, 16), false)
	if _, err := stream.Write(encode(frame)); err != nil {
		return false
	}
	_, err = stream.Read(make([]byte, 100))
	return err == nil
}

func dialAgain(s *embedded.Server) error {
	stream, err := s.Dialer()("tcp", s.Addr(), patience)
	if err == nil {
		_ = stream.Close()
	}
	return err
}

// A server that could not be started leaves nothing either.
func TestFailedStartLeavesNothing(t *testing.T) {
	around := goleak.IgnoreCurrent()
	taken, err := net.Listen("tcp", "127.0.0.1:0")
	require.NoError(t, err)
	_, err = embedded.Start(embedded.WithReplicas(2), embedded.WithListen("127.0.0.1:0", taken.Addr().String()))
	require.ErrorContains(t, err, "replica 1")
	require.NoError(t, taken.Close())
	for _, opt := range []embedded.Option{embedded.WithReplicas(0), embedded.WithReplicas(256), embedded.WithTick(0),
		embedded.WithReapInterval(0), embedded.WithClock(nil), embedded.WithMaxFrame(0), embedded.WithListen("a:1", "b:2"),
		embedded.WithSessionTimeouts(2*time.Second, time.Second), embedded.WithSessionTimeouts(-1, time.Second)} {
		_, err := embedded.Start(opt)
		require.ErrorContains(t, err, "embedded: ")
	}
	goleak.VerifyNone(t, around)
}

// Run fails the test that asks for an impossible server, and says why.
func TestRunReportsToTheTest(t *testing.T) {
	var said fatal
	require.Nil(t, embedded.Run(&said, embedded.WithReplicas(-1)))
	require.Contains(t, said.text, "-1 replicas")
	s := embedded.Run(&said, embedded.WithoutNetwork())
	require.NoError(t, dialAgain(s))
	said.end()
	require.Error(t, dialAgain(s))
}

// fatal stands for a test.
type fatal struct {
	text string
	end  func()
}

func (f *fatal) Helper()                           {}
func (f *fatal) Fatalf(format string, args ...any) { f.text = fmt.Sprintf(format, args...) }
func (f *fatal) Cleanup(end func())                { f.end = end }
