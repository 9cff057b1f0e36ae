package zkconn

import (
	"bytes"
	"errors"
	"slices"
	"strings"
)

// Verdict is what was found out about a transaction whose reply was lost.
type Verdict int

const (
	// Undecided: it may or may not have been carried out.
	Undecided Verdict = iota
	// Carried: it was carried out.
	Carried
	// NotCarried: it was not, and will not be.
	NotCarried
)

// ResolveTxn finds out what became of a Txn whose outcome is unknown, by the nodes that there are.
// Call it on a connection that has committed a transaction since (CatchUp): of the same session, on
// which nothing older can be carried out any more, or of a later session, when the old one has
// expired. before is what Txn gave.
//
// NotCarried is certain: a node that the transaction changes, or the list of children that it changes, was last changed
// by a transaction that is no newer than before.
//
// Carried is said only where alone is true and before is Whole. alone: nobody else can have changed
// these nodes since, because the guard has existed all the time and only its owner changes them.
// Whole: nothing that was done before is newer. Every node that the transaction creates and sets
// must then have its data, one zxid which is newer than before, and the version that follows; and
// what it deletes must be gone. Where nothing is created or set it is Undecided: a missing node
// does not say who has deleted it.
func (c *Conn) ResolveTxn(ops []Op, before Heard, alone bool) (Verdict, []OpResult, error) {
	f := &finding{conn: c, before: before.Zxid, results: make([]OpResult, len(ops)), taken: map[string]bool{}}
	for i, o := range ops {
		f.results[i].Path = o.Path
		if err := f.look(o, &f.results[i]); err != nil {
			return Undecided, nil, err
		}
		if f.not {
			return NotCarried, nil, nil
		}
	}
	if alone && before.Whole && f.witnesses > 0 && !f.contradicted {
		return Carried, f.results, nil
	}
	return Undecided, nil, nil
}

// finding is what has been found of a transaction so far.
type finding struct {
	conn         *Conn
	before       int64
	results      []OpResult
	taken        map[string]bool // sequential nodes that are accounted for
	zxid         int64           // of the transaction, once a node has told it
	witnesses    int
	contradicted bool
	not          bool // it was certainly not carried out
}

// look looks for the effect of one part.
func (f *finding) look(o Op, result *OpResult) error {
	switch {
	case o.Kind == OpCheck:
		return nil
	case o.Kind == OpCreate && o.Sequential:
		return f.sequential(o, result)
	}
	data, stat, err := f.conn.Get(o.Path)
	if errors.Is(err, ErrNoNode) {
		f.contradicted = f.contradicted || o.Kind != OpDelete
		if o.Kind == OpSet {
			return nil
		}
		return f.parent(o) // nothing created, nothing deleted: then it was not carried out
	}
	if err != nil {
		return err
	}
	switch o.Kind {
	case OpDelete:
		f.not = stat.Czxid <= f.before
		f.contradicted = true
	case OpCreate:
		f.not = stat.Czxid <= f.before
		f.witness(stat.Czxid, stat.Mzxid == stat.Czxid && bytes.Equal(data, o.Data))
	case OpSet:
		f.not = stat.Mzxid <= f.before
		f.witness(stat.Mzxid, bytes.Equal(data, o.Data) && (o.Version < 0 || stat.Version == o.Version+1))
		result.Version, result.Mtime = stat.Version, stat.Mtime
	}
	return nil
}

// witness notes a node that the transaction would have written.
func (f *finding) witness(zxid int64, agrees bool) {
	if f.zxid == 0 {
		f.zxid = zxid
	}
	f.witnesses++
	f.contradicted = f.contradicted || !agrees || zxid != f.zxid
}

// parent looks whether the children of a node's parent have changed at all.
func (f *finding) parent(o Op) error {
	at := f.conn.cfg.chroot + o.Path[:strings.LastIndexByte(o.Path, '/')]
	if at == "" {
		at = "/"
	}
	return f.conn.operate("exists", o.Path, func(string) error {
		stat, exists, err := f.conn.lookUp(at)
		if err == nil && exists {
			f.not = stat.Pzxid <= f.before
		}
		return err
	})
}

// sequential looks for a node with a number, among the newest: that with the lowest number, because parts come in order.
func (f *finding) sequential(o Op, result *OpResult) error {
	if err := f.parent(o); err != nil || f.not {
		return err
	}
	at := strings.LastIndexByte(o.Path, '/')
	if at == 0 { // Children takes no root
		f.contradicted = true
		return nil
	}
	names, err := f.conn.Children(o.Path[:at])
	if err != nil && !errors.Is(err, ErrNoNode) {
		return err
	}
	slices.Sort(names)
	found := ""
	for _, name := range slices.Backward(names) {
		path := o.Path[:at+1] + name
		if len(path) != len(o.Path)+sequenceDigits || !strings.HasPrefix(path, o.Path) || f.taken[path] {
			continue
		}
		data, stat, err := f.conn.Get(path)
		switch {
		case errors.Is(err, ErrNoNode):
			continue
		case err != nil:
			return err
		}
		if stat.Czxid <= f.before {
			break
		}
		if bytes.Equal(data, o.Data) && (f.zxid == 0 || stat.Czxid == f.zxid) {
			found, f.zxid = path, stat.Czxid
		}
	}
	if found == "" {
		f.contradicted = true
		return nil
	}
	f.taken[found], result.Path = true, found
	f.witnesses++
	return nil
}

// sequenceDigits is how many digits a server puts behind the name of a sequential node.
const sequenceDigits = 10
