package main

import (
	"context"
	"fmt"
	"slices"
	"time"

	"github.com/go-zookeeper/zk"

	"github.com/turnstile-locks/turnstile/tests/journal"
)

// Holders of exclusive locks write to ZooKeeper itself, too, by transactions that commit only while the lock is held.
// Each lock has a journal for that, which package journal judges at every quiet point.

const (
	journals = "/soak-journal"
	// One hold in commitEvery commits while it lasts, of a calm worker one in calmCommitEvery; every hold that was lost
	// tries once more after that.
	commitEvery     = 8
	calmCommitEvery = 2
)

// The figures of commits that must be zero.
const (
	staleCommits   = string(journal.Stale)
	mistoldCommits = string(journal.Mistold)
)

func journalPath(lock int) string { return fmt.Sprintf("%s/%d", journals, lock) }

// committer is a hold that can guard a transaction.
type committer interface {
	// Commit makes a node, whose path is completed with a number, if the lock is held.
	Commit(ctx context.Context, path, data string) (journal.Outcome, error)
}

// commits reports whether this hold is one that commits.
func (k *keeping) commits() bool {
	every := commitEvery
	if k.w.calm {
		every = calmCommitEvery
	}
	_, can := k.hold.(committer)
	return can && k.mode == exclusive && k.w.rng.IntN(every) == 0
}

// commit writes an entry into the lock's journal, and reports its outcome.
func (k *keeping) commit() error {
	guard, can := k.hold.(committer)
	if !can {
		return nil
	}
	k.w.entries++
	me := k.w.me
	entry := journal.Entry(k.token, fmt.Sprintf("%d.%d.%d.%d", me.Client, me.Incarnation, me.Worker, k.w.entries))
	if err := k.tell(report{Kind: kindCommit, Detail: entry}); err != nil {
		return err
	}
	type told struct {
		outcome journal.Outcome
		err     error
	}
	call, returned := now(), make(chan told, 1)
	go func() {
		ctx, cancel := context.WithTimeout(context.Background(), k.w.o.patience)
		defer cancel()
		outcome, err := guard.Commit(ctx, journalPath(k.lock)+"/e-", entry)
		returned <- told{outcome, err}
	}()
	got, came := within(k.w.clock, k.w.o.patience+hungGrace, returned)
	if !came {
		return k.tell(report{Kind: kindHung, Op: "commit", Call: call, At: now()})
	}
	r := report{Kind: kindCommitted, Op: "commit", Detail: entry, Count: int(got.outcome)}
	if got.err != nil {
		r.Error = errorKind(got.err)
	}
	return k.tell(r)
}

// committed takes reports of commits. It is called with the judge locked.
func (j *judge) committed(l *contended, r report) {
	if r.Kind == kindCommit {
		l.journal.Begin(r.Detail)
		return
	}
	l.journal.End(r.Detail, journal.Outcome(r.Count))
	if r.Error != "" {
		j.errors[r.Op+": "+r.Error]++
	}
}

// commits counts them by their outcomes. It is called with the judge locked.
func (j *judge) commits() map[journal.Outcome]int {
	all := map[journal.Outcome]int{}
	for _, l := range j.locks {
		for outcome, n := range l.journal.Counts() {
			all[outcome] += n
		}
	}
	return all
}

// makeJournals makes the nodes above the entries.
func (i *inspector) makeJournals() error {
	paths := []string{journals}
	for lock := range i.locks {
		paths = append(paths, journalPath(lock))
	}
	for _, path := range paths {
		if _, err := i.conn.Create(path, nil, 0, zk.WorldACL(zk.PermAll)); err != nil && err != zk.ErrNodeExists {
			return fmt.Errorf("soak: make %s: %w", path, err)
		}
	}
	return nil
}

// entries gives the entries of a journal that have come since the last time, in the order of their numbers.
func (i *inspector) entries(lock int) (all []string, err error) {
	if _, err := i.conn.Sync(journalPath(lock)); err != nil {
		return nil, fmt.Errorf("soak: sync: %w", err)
	}
	names, _, err := i.conn.Children(journalPath(lock))
	if err != nil {
		return nil, fmt.Errorf("soak: journal of lock %d: %w", lock, err)
	}
	names = slices.DeleteFunc(names, func(name string) bool { return name <= i.judged[lock] })
	slices.Sort(names)
	for _, name := range names {
		data, _, err := i.conn.Get(journalPath(lock) + "/" + name)
		if err != nil {
			return nil, fmt.Errorf("soak: %s of lock %d: %w", name, lock, err)
		}
		all = append(all, string(data))
	}
	for _, name := range names {
		i.judged[lock] = name
		_ = i.conn.Delete(journalPath(lock)+"/"+name, -1) // to save room; what stays is not judged again
	}
	return all, nil
}

// judgeCommits judges all journals, while nobody writes. Journals that it cannot read within that time are left for
// the next time.
func (s *stage) judgeCommits(within time.Duration) {
	deadline := time.Now().Add(within)
	for lock := range s.o.allLocks() {
		entries, err := s.inspector.entries(lock)
		for ; err != nil && time.Now().Before(deadline); entries, err = s.inspector.entries(lock) {
			time.Sleep(100 * time.Millisecond)
		}
		if err != nil {
			s.say("looking at commits: %v", err)
			continue
		}
		for _, wrong := range s.judge.locks[lock].journal.Judge(entries) {
			s.accuse(string(wrong.Kind), "lock %d: %s", lock, wrong.Text)
		}
	}
}
