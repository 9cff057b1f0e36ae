package rig

import (
	"maps"
	"slices"
	"strconv"
	"time"
)

// Option changes how a server is configured.
type Option func(*settings)

// settings has the settings of every member of an ensemble, also the ones that differ between
// members.
type settings struct {
	config     map[string]string // lines of zoo.cfg
	properties map[string]string // Java system properties
	secure     *TLS              // nil: without
	jaas       string            // empty: without
	members    map[int][]Option  // what differs, by the member's number from 0
	heap       int               // of the Java process, in MB
	braked     bool              // the log can be slow
	logLines   int               // that it takes a second at first; 0: as many as there are
}

// WithTickTime sets the server's tick (200 ms unless told otherwise). Session
// timeouts are granted from twice the tick up to a minute.
func WithTickTime(d time.Duration) Option {
	return WithConfig("tickTime", milliseconds(d))
}

// WithMinSessionTimeout lets clients have shorter sessions than two ticks.
func WithMinSessionTimeout(d time.Duration) Option {
	return WithConfig("minSessionTimeout", milliseconds(d))
}

// WithMaxSessionTimeout bounds the timeouts that clients are granted.
func WithMaxSessionTimeout(d time.Duration) Option {
	return WithConfig("maxSessionTimeout", milliseconds(d))
}

// WithMember applies options to one member of an ensemble alone, counted from 0:
// another tick, other bounds of session timeouts. They come after those for all.
func WithMember(member int, opts ...Option) Option {
	return func(s *settings) { s.members[member] = append(s.members[member], opts...) }
}

// WithHeap sets the largest heap of the server's Java process, in MB: 128 unless told otherwise. Servers as they are
// delivered have 1000.
func WithHeap(megabytes int) Option {
	return func(s *settings) { s.heap = megabytes }
}

// The setting of members without a vote.
const peerType, observer = "peerType", "observer"

// WithObserver has one member of an ensemble, counted from 0, follow its leader without a vote.
func WithObserver(member int) Option {
	return WithMember(member, WithConfig(peerType, observer))
}

// WithConfig sets a line of the server's configuration file. A key that
// ZooKeeper does not know becomes the system property zookeeper.<key>.
func WithConfig(key, value string) Option {
	return func(s *settings) { s.config[key] = value }
}

// WithSystemProperty sets a Java system property by its full name. It is for
// those without the prefix "zookeeper.", such as znode.container.checkIntervalMs.
func WithSystemProperty(name, value string) Option {
	return func(s *settings) { s.properties[name] = value }
}

func newSettings(opts []Option) settings {
	s := settings{
		heap:    128,
		members: map[int][]Option{},
		config: map[string]string{
			"tickTime":  "200",
			"initLimit": "50",
			"syncLimit": "10",
			// Twenty ticks would be too little for tests that ask for ordinary timeouts.
			"maxSessionTimeout":      "60000",
			"maxClientCnxns":         "0",
			"admin.enableServer":     "false",
			"4lw.commands.whitelist": "*",
			"extendedTypesEnabled":   "true", // nodes with a time to live
			// A killed process leaves the page cache behind, so nothing is lost by
			// not waiting for the disk.
			"forceSync":    "no",
			"preAllocSize": "64", // KiB of transaction log at a time; 64 MiB otherwise
		},
		properties: map[string]string{
			"org.slf4j.simpleLogger.defaultLogLevel": "warn",
			"org.slf4j.simpleLogger.showDateTime":    "true",
			"org.slf4j.simpleLogger.dateTimeFormat":  "HH:mm:ss.SSS",
		},
	}
	for _, opt := range opts {
		opt(&s)
	}
	return s
}

// member is the settings of one member, counted from 0.
func (s settings) member(number int) settings {
	s.config, s.properties = maps.Clone(s.config), maps.Clone(s.properties)
	for _, opt := range s.members[number] {
		opt(&s)
	}
	return s
}

// lines renders the shared part of a configuration file in a stable order.
func (s settings) lines() []string {
	var out []string
	for _, key := range slices.Sorted(maps.Keys(s.config)) {
		out = append(out, key+"="+s.config[key])
	}
	return out
}

// flags renders the system properties as arguments for java.
func (s settings) flags() []string {
	var out []string
	for _, name := range slices.Sorted(maps.Keys(s.properties)) {
		out = append(out, "-D"+name+"="+s.properties[name])
	}
	return out
}

func milliseconds(d time.Duration) string {
	return strconv.FormatInt(d.Milliseconds(), 10)
}
