package conformance

import (
	"fmt"
	"slices"
	"strings"
)

// caretaker is the session that prepares a sequence's root and clears it away. What it
// does is not compared.
type caretaker struct {
	wire *wire
	mask mask // only for its scope
	xid  int32
}

func newCaretaker(addr, root string) (*caretaker, error) {
	w, answer, err := greet(addr, newcomer())
	if err != nil {
		return nil, fmt.Errorf("caretaker of %s: %w", addr, err)
	}
	if answer.id == 0 {
		w.close()
		return nil, fmt.Errorf("caretaker of %s: no session", addr)
	}
	return &caretaker{wire: w, mask: mask{scope: scope{root: root}}}, nil
}

// ask sends a request and returns the answer's header, and the rest.
func (c *caretaker) ask(o operation) (header, *decoder, error) {
	body, err := c.mask.request(o)
	if err != nil {
		return header{}, nil, err
	}
	c.xid++
	c.wire.write(request(c.xid, layouts[o.name].code, body))
	answer, err := c.wire.read()
	if err != nil {
		return header{}, nil, fmt.Errorf("caretaker's %s: %w", o.bare(), err)
	}
	d := &decoder{bytes: answer}
	h := d.header()
	return h, d, d.err
}

func op(name, path string) operation { return operation{name: name}.with("path", path) }

// prepare makes the root, and notes what everything is to be compared with.
func (c *caretaker) prepare() (base int64, top stat, nodes int32, err error) {
	h, d, err := c.ask(op("create2", "~"))
	if err != nil || h.err != 0 {
		return 0, stat{}, 0, fmt.Errorf("creating the root %s: error %d, %w", c.mask.root, h.err, err)
	}
	d.text()
	base = d.stat().czxid
	if h, d, err = c.ask(op("exists", "/")); err != nil || h.err != 0 {
		return 0, stat{}, 0, fmt.Errorf("stat of /: error %d, %w", h.err, err)
	}
	top = d.stat()
	if h, d, err = c.ask(op("childrenNumber", "/")); err == nil && h.err == 0 {
		nodes = d.int32()
	}
	return base, top, nodes, err
}

// survey shows the whole tree under the root.
func (c *caretaker) survey(m *mask) (step, error) {
	out := step{operation: "the tree at the end"}
	paths, err := c.tree()
	for _, p := range paths {
		for _, name := range []string{"getData", "getACL", "getChildren2"} {
			o := op(name, text{value: p}.String())
			h, d, err := c.ask(o)
			if err != nil {
				return out, err
			}
			shown := append([]shown{{"path", o.args[0].value}, {"err", fmt.Sprint(h.err)}}, m.reply(o, h.err, d)...)
			out.entries = append(out.entries, entry{session: -1, what: name, fields: shown})
		}
	}
	return out, err
}

// tree lists the paths from the root down.
func (c *caretaker) tree() ([]string, error) {
	out := []string{"~"}
	for i := 0; i < len(out); i++ {
		h, d, err := c.ask(op("getChildren", text{value: out[i]}.String()))
		if err != nil {
			return out, err
		}
		if h.err != 0 {
			continue
		}
		var names []string
		for _, child := range d.texts().items {
			names = append(names, out[i]+"/"+child.value)
		}
		slices.SortFunc(names, strings.Compare)
		out = append(out, names...)
	}
	return out, nil
}

// clear removes what can be removed: a node whose access list shuts everybody out stays.
func (c *caretaker) clear() error {
	paths, err := c.tree()
	for _, p := range slices.Backward(paths) {
		if err == nil {
			_, _, err = c.ask(op("delete", text{value: p}.String()))
		}
	}
	return err
}

// leave ends the caretaker's own session.
func (c *caretaker) leave() {
	c.wire.write(request(0, layouts["close"].code, nil))
	_, _ = c.wire.read()
	c.wire.close()
}

// end closes a session that others left behind.
func end(addr string, id int64, password text) {
	h := newcomer()
	h.id, h.password = id, password
	w, answer, err := greet(addr, h)
	if err != nil {
		return
	}
	if answer.id != 0 {
		w.write(request(1, layouts["close"].code, nil))
		_, _ = w.read()
	}
	w.close()
}
