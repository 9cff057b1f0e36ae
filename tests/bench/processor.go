package main

import (
	"errors"
	"os"
	"time"
)

// processor is the processor time that all servers have used together, on Linux.
func (s *stage) processor() (time.Duration, error) { return processorOf(s.pids) }

// clocks are the processes whose processor time a measurement counts, by their numbers.
type clocks struct{ clients, servers []int }

// clocks gives the clocks of a measurement: the clients', which are this process where no other is
// named, and the servers'. It has no clocks on systems that cannot tell.
func (t trial) clocks(clients ...int) clocks {
	me := []int{os.Getpid()}
	if _, err := processorOf(me); errors.Is(err, errors.ErrUnsupported) {
		return clocks{}
	}
	if len(clients) == 0 {
		clients = me
	}
	return clocks{clients, t.stage.pids}
}

// spent is the processor time that processes have used, for so many grants.
type spent struct {
	clients, servers time.Duration
	grants           int
}

func (c clocks) read() (spent, error) {
	clients, err := processorOf(c.clients)
	servers, err2 := processorOf(c.servers)
	return spent{clients: clients, servers: servers}, errors.Join(err, err2)
}

// since gives the use since then, for so many grants.
func (c clocks) since(before spent, grants int) (spent, error) {
	now, err := c.read()
	return spent{now.clients - before.clients, now.servers - before.servers, grants}, err
}

// processorMetrics are the figures of the processor time of a grant.
func processorMetrics(name, per, title string) []metric {
	return []metric{
		{name + clientProcessor, "µs/" + per, less, title + ": processor time of the clients"},
		{name + serverProcessor, "µs/" + per, neither, title + ": processor time of the servers"},
	}
}

// How these metrics end.
const (
	clientProcessor = "-client-cpu"
	serverProcessor = "-server-cpu"
)

// put adds them to the figures of a workload. No time means that it is not known, as for servers in
// this process.
func (s spent) put(found figures, name string) {
	if s.grants > 0 && s.clients > 0 {
		found[name+clientProcessor] = micros(s.clients) / float64(s.grants)
	}
	if s.grants > 0 && s.servers > 0 {
		found[name+serverProcessor] = micros(s.servers) / float64(s.grants)
	}
}
