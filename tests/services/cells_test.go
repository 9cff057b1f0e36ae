package services

import "time"

// Ability is a use that a service makes of a lock.
type Ability string

// The abilities.
const (
	Do       Ability = "Do"
	Run      Ability = "Election.Run"
	OnChange Ability = "WithOnChange"
	MaxHold  Ability = "WithMaxHold"
	Txn      Ability = "Lease.Txn"
	Once     Ability = "RunOnce"
	Reclaim  Ability = "WithReclaim"
	Group    Ability = "Group"
)

// Fault is the fault that strikes its user.
type Fault string

// The faults.
const (
	expiry    Fault = "expiry"     // the servers end its session
	cut       Fault = "cut"        // its connection is lost, and it connects again at once
	silence   Fault = "silence"    // nothing that it sends arrives, until others hold
	pause     Fault = "pause"      // its process is stopped, until others hold or its hold is over
	kill      Fault = "kill"       // its process is killed
	lostReply Fault = "lost reply" // of what makes its node, and of what deletes it
)

var (
	abilities = []Ability{Do, Run, OnChange, MaxHold, Txn, Once, Reclaim, Group}
	faults    = []Fault{expiry, cut, silence, pause, kill, lostReply}
)

// outcome names the holder while the fault lasts.
type outcome string

const (
	kept  outcome = "kept"  // it goes on holding until it is told to end
	lost  outcome = "lost"  // the waiter holds, and then the fault is over
	given outcome = "given" // it gives the lock back by itself, and the waiter holds
)

// bounds are the times of a cell that differ from those of its world.
type bounds struct {
	timeout time.Duration // of its session, in real time
	hold    time.Duration // WithMaxHold
}

// cell is an ability that holds a lock, and a fault.
type cell struct {
	ability Ability
	fault   Fault
	must    string // come out
	ends    outcome
	told    []string // to it, from its grant on, in order
	after   []string // and when it was told to end
	bounds  bounds
}

// never is a bound of holds that no cell waits for.
const never = time.Hour

// resigns is the command for a leader to end.
var resigns = []string{"the term ends: canceled", "Run returns: canceled"}

var cells = []cell{
	{Do, expiry, "the work is told that the lock is lost, and Do says so, whatever the work returns", lost,
		[]string{"holds", "the work's context ends: lost", "Do returns: lost"}, nil, bounds{}},
	{Do, cut, "the work hears nothing of it", kept,
		[]string{"holds"}, []string{"the work is done", "Do returns: nil"}, bounds{}},
	{Do, silence, "the work is told before others hold, and Do says so", lost,
		[]string{"holds", "the work's context ends: lost", "Do returns: lost"}, nil, bounds{}},
	{Do, pause, "the work is told when the process goes on, and Do says so", lost,
		[]string{"holds", "the work's context ends: lost", "Do returns: lost"}, nil, bounds{}},
	{Do, kill, "the lock is free when the session has expired", lost,
		[]string{"holds"}, nil, bounds{}},
	{Do, lostReply, "one node is made, and it is gone when Do returns", kept,
		[]string{"holds"}, []string{"the work is done", "Do returns: nil"}, bounds{}},

	{Run, expiry, "the term ends, and it leads again behind the one that waited", lost,
		[]string{"holds", "the term ends: lost", "holds"}, resigns, bounds{}},
	{Run, cut, "the term goes on", kept,
		[]string{"holds"}, resigns, bounds{}},
	{Run, silence, "the term ends before others lead; it leads again when it is heard again", lost,
		[]string{"holds", "the term ends: lost", "holds"}, resigns, bounds{}},
	{Run, pause, "the term ends when the process goes on, and it leads again", lost,
		[]string{"holds", "the term ends: lost", "holds"}, resigns, bounds{}},
	{Run, kill, "another leads when the session has expired", lost,
		[]string{"holds"}, nil, bounds{}},
	{Run, lostReply, "it leads with one node, which is gone when Run returns", kept,
		[]string{"holds"}, resigns, bounds{}},

	{OnChange, expiry, "the connection goes, and the lease with the session", lost,
		[]string{"holds", "suspended", "lost: lost"}, []string{"Unlock returns: lost"}, bounds{}},
	{OnChange, cut, "the lease is in doubt, and goes on", kept,
		[]string{"holds", "suspended", "resumed"}, []string{"Unlock returns: nil"}, bounds{timeout: time.Minute}},
	{OnChange, silence, "the lease is in doubt, and then lost, before others hold", lost,
		[]string{"holds", "suspended", "lost: lost"}, []string{"Unlock returns: lost"}, bounds{}},
	{OnChange, pause, "the loss is all that is left to tell when the process goes on", lost,
		[]string{"holds", "lost: lost"}, []string{"Unlock returns: lost"}, bounds{}},
	{OnChange, kill, "nobody is left to be told", lost,
		[]string{"holds"}, nil, bounds{}},
	{OnChange, lostReply, "there is nothing to tell: it did not hold yet, and has given back", kept,
		[]string{"holds"}, []string{"Unlock returns: nil"}, bounds{timeout: time.Minute}},

	{MaxHold, expiry, "the hold ends with the session, before its time", lost,
		[]string{"holds", "the hold ends: lost"}, []string{"Unlock returns: lost"}, bounds{hold: never}},
	{MaxHold, cut, "the hold ends in its time, and others hold", given,
		[]string{"holds", "the hold ends: max hold"}, []string{"Unlock returns: max hold"}, bounds{}},
	{MaxHold, silence, "the hold ends in its time, though nobody can be told; others hold after the session", lost,
		[]string{"holds", "the hold ends: max hold"}, []string{"Unlock returns: max hold"},
		bounds{timeout: 16 * time.Second, hold: 3 * time.Second}},
	{MaxHold, pause, "a hold whose time is over when the process goes on ends at once, and others hold", given,
		[]string{"holds", "the hold ends: max hold"}, []string{"Unlock returns: max hold"}, bounds{timeout: time.Minute}},
	{MaxHold, kill, "the lock is free when the session has expired", lost,
		[]string{"holds"}, nil, bounds{hold: never}},
	{MaxHold, lostReply, "one node is made, and gone when the hold has ended in its time", given,
		[]string{"holds", "the hold ends: max hold"}, []string{"Unlock returns: max hold"}, bounds{}},

	{Txn, expiry, "the transaction is refused, and nothing is written", lost,
		[]string{"holds"}, []string{"Txn returns: lost", "Unlock returns: lost"}, bounds{}},
	{Txn, cut, "the transaction is carried out on the next connection", kept,
		[]string{"holds"}, []string{"Txn returns: nil", "Unlock returns: nil"}, bounds{}},
	{Txn, silence, "the transaction is refused when it is heard again, and nothing is written", lost,
		[]string{"holds"}, []string{"Txn returns: lost", "Unlock returns: lost"}, bounds{}},
	{Txn, pause, "the transaction is refused when the process goes on, and nothing is written", lost,
		[]string{"holds"}, []string{"Txn returns: lost", "Unlock returns: lost"}, bounds{}},
	{Txn, kill, "nothing is written", lost,
		[]string{"holds"}, nil, bounds{}},
}
