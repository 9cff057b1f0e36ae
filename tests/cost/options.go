package main

import (
	"errors"
	"flag"
	"fmt"
	"io"
	"slices"
	"strconv"
	"strings"
	"time"
)

// options are the flags.
type options struct {
	scenes  []string
	clients int
	timeout time.Duration
	tick    time.Duration // of the servers
	lengths []float64     // of outages, in session timeouts
	trips   []float64     // round trips, in session timeouts
	each    int           // clients that contend for a lock
	measure time.Duration
	kinds   []string
}

// Scenes.
const (
	sceneOutage = "outage"
	sceneLeader = "leader"
	sceneSlow   = "slow"
	sceneSyncs  = "syncs"
)

// Kinds of clients.
const (
	holders = "holders"
	idle    = "idle"
)

// parse reads the flags.
func parse(args []string, to io.Writer) (options, error) {
	var o options
	var scenes, lengths, trips, kinds string
	f := flag.NewFlagSet("cost", flag.ContinueOnError)
	f.SetOutput(to)
	all := []string{sceneOutage, sceneLeader, sceneSlow, sceneSyncs}
	f.StringVar(&scenes, "scenes", strings.Join(all, ","), "what is measured, separated by commas")
	f.IntVar(&o.clients, "clients", 1000, "clients, each with a session")
	f.DurationVar(&o.timeout, "timeout", 6*time.Second, "session timeout T of all scenes but "+sceneSyncs)
	f.DurationVar(&o.tick, "tick", 2*time.Second, "the servers' tick")
	f.StringVar(&lengths, "lengths", "0.5,0.95,1,1.5,3", "lengths of outages as parts of T, separated by commas")
	f.StringVar(&kinds, "kinds", holders+","+idle, "kinds of clients that have outages, separated by commas")
	f.StringVar(&trips, "trips", "1/12,1/8,1/6,1/5,1/3", "round trips as parts of T, separated by commas")
	f.IntVar(&o.each, "each", 10, "clients that contend for a lock in the scene "+sceneSlow)
	f.DurationVar(&o.measure, "measure", time.Minute, "how long the scenes "+sceneSlow+" and "+sceneSyncs+" are measured")
	if err := f.Parse(args); err != nil {
		return o, err
	}
	if f.NArg() > 0 {
		return o, fmt.Errorf("cost: %q is no flag", f.Arg(0))
	}
	if o.clients < 1 || o.each < 1 || o.timeout < time.Second || o.measure <= 0 {
		return o, errors.New("cost: -clients, -each and -measure must be above 0, and -timeout a second or more")
	}
	o.scenes, o.kinds = strings.Split(scenes, ","), strings.Split(kinds, ",")
	var err error
	if o.lengths, err = parts(lengths); err != nil {
		return o, fmt.Errorf("cost: -lengths: %w", err)
	}
	if o.trips, err = parts(trips); err != nil {
		return o, fmt.Errorf("cost: -trips: %w", err)
	}
	return o, errors.Join(among("scenes", o.scenes, all), among("kinds", o.kinds, []string{holders, idle}))
}

func among(name string, chosen, all []string) error {
	for _, one := range chosen {
		if !slices.Contains(all, one) {
			return fmt.Errorf("cost: -%s %q is none of %s", name, one, strings.Join(all, ", "))
		}
	}
	return nil
}

// parts reads numbers and fractions, such as 0.5,1/12.
func parts(text string) (found []float64, err error) {
	for one := range strings.SplitSeq(text, ",") {
		over, under, fraction := strings.Cut(one, "/")
		if !fraction {
			under = "1"
		}
		a, err1 := strconv.ParseFloat(over, 64)
		b, err2 := strconv.ParseFloat(under, 64)
		if err1 != nil || err2 != nil || a <= 0 || b <= 0 {
			return nil, fmt.Errorf("%q is no number above 0", one)
		}
		found = append(found, a/b)
	}
	return found, nil
}
