package zkconn

import (
	"net"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/turnstile-locks/turnstile/zkconn/logkeys"
)

// WithReconfig follows the members of an ensemble that changes while it runs (reconfig, from 3.5
// on): their addresses are tried beside those of the connect string, never in place of them. They
// are in the node /zookeeper/config, which every client may read by default. It is read each third
// of the session timeout that is asked for: so long after a newcomer the last known server may go.
//
// The addresses there are of the plain client port, as the servers were told them: clients must
// reach those. So NewConfig refuses it together with WithTLS. All sessions of a Config know what one
// has found; a program that starts knows its connect string, and one server of it must be left.
func WithReconfig() Option {
	return func(c *Config) error {
		c.found = new(foundServers)
		return nil
	}
}

// configPath is outside of every chroot.
const configPath = "/zookeeper/config"

// mostMembers bounds what is taken from there: members have numbers from 1 to 255.
const mostMembers = 255

// foundServers are the servers of the newest /zookeeper/config. All sessions of a Config share them.
type foundServers struct {
	mu  sync.Mutex
	all []string
}

func (f *foundServers) list() []string {
	if f == nil {
		return nil
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.all
}

// set takes what was found, unless that is nothing, and reports whether it is new.
func (f *foundServers) set(found []string) bool {
	f.mu.Lock()
	defer f.mu.Unlock()
	if len(found) == 0 || slices.Equal(f.all, found) {
		return false
	}
	f.all = found
	return true
}

// followMembers reads the members until the Conn is closed. A read waits for a connection. One that
// fails, as without READ, tells nothing.
func (c *Conn) followMembers() {
	for c.dialing.Err() == nil {
		var data []byte
		err := c.operate("get", configPath, nil, func(string) (err error) {
			data, _, err = c.zk.Get(configPath)
			return err
		})
		if found := membersIn(data, c.cfg.servers); err == nil && c.cfg.found.set(found) {
			c.log.Debug("zookeeper servers found", logkeys.Server, strings.Join(found, ","))
		}
		select {
		case <-time.After(c.cfg.timeout / 3):
		case <-c.dialing.Done():
		}
	}
}

// membersIn gives the client addresses of a /zookeeper/config, without those that are known. A
// member is a line such as
//
//	server.1=zk1:2888:3888:participant;0.0.0.0:2181
//
// Where the client address is a port, or of all interfaces, the host is that of the quorum's.
func membersIn(config []byte, known []string) (found []string) {
	for line := range strings.Lines(string(config)) {
		member, client, _ := strings.Cut(strings.TrimSpace(line), ";")
		name, quorum, _ := strings.Cut(member, "=")
		if !strings.HasPrefix(name, "server.") {
			continue
		}
		host, port, err := net.SplitHostPort(client)
		if err != nil {
			host, port = "", client
		}
		if ip := net.ParseIP(host); host == "" || ip != nil && ip.IsUnspecified() {
			host = quorumHost(quorum)
		}
		server, wrong := parseServer(net.JoinHostPort(host, port))
		if wrong == "" && !slices.Contains(known, server) && !slices.Contains(found, server) && len(found) < mostMembers {
			found = append(found, server)
		}
	}
	return found
}

// quorumHost gives the host of host:port:port, or of [address]:port:port.
func quorumHost(quorum string) string {
	if address, _, is := strings.Cut(strings.TrimPrefix(quorum, "["), "]"); is {
		return address
	}
	host, _, _ := strings.Cut(quorum, ":")
	return host
}
