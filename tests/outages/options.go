package main

import (
	"errors"
	"flag"
	"fmt"
	"io"
	"strconv"
	"strings"
	"time"
)

// options are the flags.
type options struct {
	timeouts []time.Duration
	lengths  []float64 // of the session timeout
	servers  []string
	sessions int
	rounds   int
	dead     int
	hangUp   bool
	together bool
	survive  float64
	verbose  bool
}

// Kinds of servers.
const (
	standalone = "one"
	ensemble   = "three"
)

// parse reads the flags.
func parse(args []string, to io.Writer) (options, error) {
	var o options
	var timeouts, lengths, servers, how string
	f := flag.NewFlagSet("outages", flag.ContinueOnError)
	f.SetOutput(to)
	f.StringVar(&timeouts, "timeouts", "4s,10s", "session timeouts, separated by commas")
	f.StringVar(&lengths, "lengths", "0.05,0.10,0.15,0.20,0.22", "lengths of outages as parts of the session timeout, separated by commas")
	f.StringVar(&servers, "servers", standalone+","+ensemble, "kinds of servers, separated by commas: "+standalone+", "+ensemble)
	f.StringVar(&how, "how", "refuse", "what the servers do to connections in an outage: refuse, or hang-up")
	f.IntVar(&o.sessions, "sessions", 50, "sessions, each with a lock and outages of its own")
	f.IntVar(&o.rounds, "rounds", 4, "outages of each length for each session")
	f.IntVar(&o.dead, "dead", 0, "servers in the list whose packets are dropped, always")
	f.BoolVar(&o.together, "together", false, "begin the outages of all sessions at the same moment")
	f.Float64Var(&o.survive, "survive", 0.2, "fail when a lease is lost in an outage of at most this part of the session timeout")
	f.BoolVar(&o.verbose, "v", false, "say to standard error how each lease was lost")
	if err := f.Parse(args); err != nil {
		return o, err
	}
	if f.NArg() > 0 {
		return o, fmt.Errorf("outages: %q is no flag", f.Arg(0))
	}
	if o.sessions < 1 || o.rounds < 1 || o.dead < 0 {
		return o, errors.New("outages: -sessions and -rounds must be above 0, and -dead not below")
	}
	switch how {
	case "refuse":
	case "hang-up":
		o.hangUp = true
	default:
		return o, fmt.Errorf("outages: -how %q is neither refuse nor hang-up", how)
	}
	o.servers = strings.Split(servers, ",")
	for _, kind := range o.servers {
		if kind != standalone && kind != ensemble {
			return o, fmt.Errorf("outages: -servers %q is neither %s nor %s", kind, standalone, ensemble)
		}
	}
	return o, errors.Join(o.readTimeouts(timeouts), o.readLengths(lengths))
}

func (o *options) readTimeouts(text string) error {
	for one := range strings.SplitSeq(text, ",") {
		d, err := time.ParseDuration(one)
		if err != nil || d < time.Second {
			return fmt.Errorf("outages: -timeouts %q is no duration of a second or more", one)
		}
		o.timeouts = append(o.timeouts, d)
	}
	return nil
}

func (o *options) readLengths(text string) error {
	for one := range strings.SplitSeq(text, ",") {
		part, err := strconv.ParseFloat(one, 64)
		if err != nil || part <= 0 || part >= 1 {
			return fmt.Errorf("outages: -lengths %q does not lie between 0 and 1", one)
		}
		o.lengths = append(o.lengths, part)
	}
	return nil
}
