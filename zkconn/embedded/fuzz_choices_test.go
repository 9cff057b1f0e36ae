package embedded

import "time"

// The operations that a byte of a script chooses from.
const (
	chooseCreate = iota
	chooseDelete
	chooseSet
	chooseSetACL
	chooseMulti
	chooseRead
	chooseWatch
	chooseAddWatch
	chooseRemoveWatch
	chooseSetWatches
	chooseRaw
	chooseAuth
	chooseClock
	chooseExpire
	chooseConnect
	chooseReplica
	choices
)

var (
	playPaths = []string{"/a", "/a/b", "/a/b/c", "/c", "/a/", "/", "", "/zookeeper/q", "/a/d", "a", "/zookeeper", null, "/a/0000000001"}
	playLists = [][]access{openACL, readACL, {{permAll, identity{"auth", ""}}}, {{permAll, identity{"digest", "u:x"}}},
		{{permAll &^ permRead, identity{"ip", "127.0.0.0/8"}}}, nil}
)

func choose[T any](p *play, all []T) T { return all[int(p.next())%len(all)] }

// step does one thing.
func (p *play) step() {
	choice := int(p.next()) % choices
	i := int(p.next()) % len(p.conns)
	c := p.conns[i]
	switch choice {
	case chooseCreate:
		p.send(c, choose(p, []Op{OpCreate, OpCreate2, OpCreateContainer, OpCreateTTL}), recordOf(p.create))
	case chooseDelete:
		p.send(c, OpDelete, recordOf(func(e *encoder) { p.path(e); e.int32(-1) }))
	case chooseSet:
		p.send(c, OpSetData, recordOf(p.set))
	case chooseSetACL:
		p.send(c, OpSetACL, recordOf(func(e *encoder) { p.path(e); e.acl(choose(p, playLists)); e.int32(-1) }))
	case chooseMulti:
		p.send(c, choose(p, []Op{OpMulti, OpMultiRead}), recordOf(p.multi))
	case chooseRead:
		op := choose(p, []Op{OpGetACL, OpSync, OpGetEphemerals, OpGetAllChildrenNumber, OpWhoAmI, OpPing})
		p.send(c, op, recordOf(p.path))
	case chooseWatch:
		op := choose(p, []Op{OpGetData, OpExists, OpGetChildren, OpGetChildren2})
		p.send(c, op, recordOf(func(e *encoder) { p.path(e); e.bool(true) }))
	case chooseAddWatch:
		p.send(c, OpAddWatch, recordOf(func(e *encoder) { p.path(e); e.int32(int32(p.next() % 3)) }))
	case chooseRemoveWatch:
		op := choose(p, []Op{OpRemoveWatches, OpCheckWatches})
		p.send(c, op, recordOf(func(e *encoder) { p.path(e); e.int32(int32(p.next() % 5)) }))
	case chooseSetWatches:
		p.send(c, choose(p, []Op{OpSetWatches, OpSetWatches2}), recordOf(p.watchLists))
	case chooseRaw:
		op := Op(int8(p.next()))
		n := min(int(p.next()), len(p.script))
		body := p.script[:n]
		p.script = p.script[n:]
		p.send(c, op, body)
	case chooseAuth:
		p.send(c, OpAuth, recordOf(func(e *encoder) {
			e.int32(0)
			e.text(choose(p, []string{"digest", "ip", "sasl"}))
			e.bytes([]byte{'u', ':', p.next()})
		}))
	default:
		p.disturb(choice, i)
	}
}

// disturb makes a fault or another change at the server, besides requests.
func (p *play) disturb(choice, i int) {
	c := p.conns[i]
	switch choice {
	case chooseClock:
		p.clock.Advance(time.Duration(p.next()) * 100 * time.Millisecond)
	case chooseExpire:
		_ = p.s.Expire(c.sessionID)
	case chooseConnect:
		if p.next()%2 == 0 {
			p.connect(i, c.sessionID, p.s.e.password(c.sessionID))
			return
		}
		p.connect(i, 0, nil)
	case chooseReplica:
		r := choose(p, p.s.e.replicas)
		switch p.next() % 8 {
		case 0:
			r.CutOff()
		case 1:
			r.Rejoin()
		case 2:
			_ = r.Lag()
		case 3:
			r.CatchUp()
		case 4:
			r.Stop()
		case 5:
			_ = r.Start()
		case 6:
			r.DropClients()
		case 7:
			_, _ = p.s.Inject(Fault{Op: OpCreate, Path: "/a/**", Action: Action(p.next() % byte(RefusePart+1))})
		}
	}
}

func (p *play) path(e *encoder) {
	path := choose(p, playPaths)
	if path == null {
		e.bytes(nil)
		return
	}
	e.text(path)
}

func (p *play) create(e *encoder) {
	p.path(e)
	e.bytes(make([]byte, p.next()))
	e.acl(choose(p, playLists))
	e.int32(int32(p.next() % 8))
	e.int64(int64(p.next()) - 1)
}

func (p *play) set(e *encoder) {
	p.path(e)
	e.bytes(make([]byte, p.next()))
	e.int32(int32(p.next()%4) - 1)
}

func (p *play) multi(e *encoder) {
	for range p.next() % 8 {
		op := choose(p, []Op{OpCreate, OpCreateTTL, OpCreateContainer, OpDelete, OpSetData, OpCheck, OpGetData, OpGetChildren})
		e.multiHeader(op, false, -1)
		switch op {
		case OpCreate, OpCreateTTL, OpCreateContainer:
			p.path(e)
			e.bytes(make([]byte, p.next()))
			e.acl(openACL)
			e.int32(int32(p.next() % 8))
			if op == OpCreateTTL {
				e.int64(int64(p.next()))
			}
		case OpDelete, OpCheck:
			p.path(e)
			e.int32(int32(p.next()%4) - 1)
		case OpSetData:
			p.set(e)
		default:
			p.path(e)
			e.bool(true)
		}
	}
	e.multiHeader(opError, true, -1)
}

func (p *play) watchLists(e *encoder) {
	e.int64(int64(p.next()))
	for range 5 {
		n := p.next() % 4
		e.int32(int32(n))
		for range n {
			p.path(e)
		}
	}
}
