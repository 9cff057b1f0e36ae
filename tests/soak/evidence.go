package main

import (
	"fmt"
	"os"
	"path/filepath"
	"sync"
	"time"
)

const (
	// evidenceMost bounds how often logs are collected.
	evidenceMost = 5
	// evidencePause lets what belongs to one error be collected once.
	evidencePause = 10 * time.Second
	// logPatience is for a client to send its log; one that is stopped does not.
	logPatience = 15 * time.Second
)

// evidence prints violations and, when there are any, collects the logs of clients and servers, and what the servers did.
type evidence struct {
	stage  *stage
	folder string

	mu        sync.Mutex
	collected int
	last      time.Time
	working   sync.WaitGroup
	newest    chan struct{} // closed when the newest violation's logs are collected; nil before the first
}

// convict takes a violation.
func (e *evidence) convict(kind, text string) {
	e.stage.say("ERROR %s: %s", kind, text)
	e.mu.Lock()
	defer e.mu.Unlock()
	if e.collected == evidenceMost || time.Since(e.last) < evidencePause {
		return
	}
	if e.folder == "" {
		folder, err := os.MkdirTemp("", "soak-evidence-")
		if err != nil {
			e.stage.say("no evidence is kept: %v", err)
			return
		}
		e.folder = folder
	}
	e.collected++
	e.last = time.Now()
	number := e.collected
	done := make(chan struct{})
	e.newest = done
	e.working.Go(func() {
		defer close(done)
		e.collect(number, kind+": "+text+"\n")
	})
	e.stage.say("evidence is kept in %s", e.folder)
}

// collect writes the violation, what all processes have logged last, and the members' transactions, which tell who made
// which node in which session.
func (e *evidence) collect(number int, text string) {
	e.keep(fmt.Sprintf("%d-error.txt", number), text)
	for i, member := range e.stage.ensemble.Members() {
		e.keep(fmt.Sprintf("%d-member-%d.log", number, i), member.Log())
		if err := member.CopyTransactionLog(filepath.Join(e.folder, fmt.Sprintf("%d-member-%d", number, i))); err != nil {
			e.stage.say("evidence: %v", err)
		}
	}
	for _, client := range e.stage.subjects {
		if client.command(doLog) != nil {
			continue
		}
		select {
		case log := <-client.log:
			e.keep(fmt.Sprintf("%d-client-%d.log", number, client.number), log)
		case <-time.After(logPatience):
			e.stage.say("no log of client %d", client.number)
		}
	}
}

func (e *evidence) keep(name, text string) {
	if err := os.WriteFile(filepath.Join(e.folder, name), []byte(text), 0o600); err != nil {
		e.stage.say("evidence: %v", err)
	}
}

// settle waits until the logs of the newest violation are collected. There may be others meanwhile.
func (e *evidence) settle() {
	e.mu.Lock()
	newest := e.newest
	e.mu.Unlock()
	if newest != nil {
		<-newest
	}
}

// wait until all is written.
func (e *evidence) wait() { e.working.Wait() }
