package embedded

// suffer lets the faults have their way with a request. It says whether the request is still to be carried
// out and, if not, whether the connection stays open.
func (c *conn) suffer(xid int32, op Op, body []byte) (goOn, open bool) {
	request := Request{Session: c.sessionID, Op: op, Paths: requestPaths(op, body)}
	if c.e.hook != nil {
		if action := c.e.hook(request); action != Pass {
			return c.meet(xid, request, action, nil)
		}
	}
	for _, i := range c.e.faults {
		if i.matches(request) {
			i.hits++
			if i.hits == 1 {
				close(i.hit)
			}
			return c.meet(xid, request, i.fault.Action, i)
		}
	}
	return true, true
}

// meet lets one action happen to a request. by is nil when a hook has asked for it.
func (c *conn) meet(xid int32, request Request, action Action, by *Injection) (goOn, open bool) {
	switch action {
	case CutBefore:
		return false, false
	case CutAfter:
		c.out.finish() // what was answered before still goes out
		c.cutting = true
	case DropReply:
		c.mute = true
	case HoldReplies:
		c.out.hold(+1)
		if by != nil && by.fault.Delay == 0 {
			by.holding = append(by.holding, c.out)
		} else if by != nil {
			c.e.clock.AfterFunc(by.fault.Delay, func() { c.out.hold(-1) })
		}
	case ExpireBefore:
		if s := c.e.sessions[c.sessionID]; s != nil && c.e.leader != nil {
			c.e.expire(s)
		}
		return false, false
	case EndBefore:
		if s := c.e.sessions[c.sessionID]; s != nil && c.e.leader != nil {
			c.e.endElsewhere(s)
		}
	case Refuse, RefusePart:
		return false, c.refuseRequest(xid, request, action, by)
	}
	return true, true
}

// requestPaths reads the paths that a request names.
func requestPaths(op Op, body []byte) []string {
	d := &decoder{buf: body}
	switch op {
	case OpMulti:
		orders, _ := readMulti(d)
		var all []string
		for _, o := range orders {
			all = append(all, o.path)
		}
		return all
	case OpPing, OpCloseSession, OpCreateSession, OpMultiRead, OpAuth, OpSASL, OpSetWatches, OpSetWatches2, OpWhoAmI:
		return nil
	}
	if p := d.text(); d.err == nil && p != null {
		return []string{p}
	}
	return nil
}
