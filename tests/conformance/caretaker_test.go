package conformance

import (
	"fmt"
	"slices"
)

// caretaker is the session that prepares a sequence's root and clears it away. Its
// requests are not compared.
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

// answer is a reply's header, and the rest.
type answer struct {
	header
	*decoder
}

// ask sends requests all at once and then reads the replies.
func (c *caretaker) ask(operations ...operation) ([]answer, error) {
	var bytes []byte
	for _, o := range operations {
		body, err := c.mask.request(o)
		if err != nil {
			return nil, err
		}
		c.xid++
		bytes = append(bytes, request(c.xid, layouts[o.name].code, body)...)
	}
	go c.wire.write(bytes) // the server may stop reading until its replies are read
	out := make([]answer, len(operations))
	for i, o := range operations {
		body, err := c.wire.read()
		if err != nil {
			return nil, fmt.Errorf("caretaker's %s: %w", o.bare(), err)
		}
		d := &decoder{bytes: body}
		out[i] = answer{d.header(), d}
		if d.err != nil {
			return nil, fmt.Errorf("caretaker's %s: %w", o.bare(), d.err)
		}
	}
	return out, nil
}

func op(name, path string) operation { return operation{name: name}.with("path", path) }

// prepare makes the root, and notes the values that everything is compared with. It sets the data
// of "/", so that they do not depend on earlier runs.
func (c *caretaker) prepare(m *mask) error {
	answers, err := c.ask(op("setData", "/"), op("create2", "~"), op("exists", "/"), op("childrenNumber", "/"))
	if err != nil {
		return err
	}
	for i, what := range []string{"setting /", "creating the root", "stat of /", "number of nodes"} {
		if answers[i].header.err != 0 {
			return fmt.Errorf("%s for %s: error %d", what, m.root, answers[i].header.err)
		}
	}
	answers[1].text()
	m.base, m.top, m.nodes = answers[1].stat().czxid, answers[2].stat(), answers[3].int32()
	return nil
}

// survey shows the nodes of a tree.
func (c *caretaker) survey(m *mask, paths []string) (step, error) {
	out := step{operation: "the tree at the end"}
	var questions []operation
	for _, p := range paths {
		for _, name := range []string{"getData", "getACL"} {
			questions = append(questions, op(name, text{value: p}.String()))
		}
	}
	answers, err := c.ask(questions...)
	for i, a := range answers {
		o := questions[i]
		fields := append([]shown{{"path", o.args[0].value}, {"err", fmt.Sprint(a.header.err)}}, m.reply(o, a.header.err, a.decoder)...)
		out.entries = append(out.entries, entry{session: -1, what: o.name, fields: fields})
	}
	return out, err
}

// tree lists the paths from the root down, level by level.
func (c *caretaker) tree() ([]string, error) {
	out := []string{"~"}
	for level := out; len(level) > 0; {
		var questions []operation
		for _, p := range level {
			questions = append(questions, op("getChildren", text{value: p}.String()))
		}
		answers, err := c.ask(questions...)
		if err != nil {
			return nil, err
		}
		var next []string
		for i, a := range answers {
			if a.header.err != 0 {
				continue
			}
			for _, child := range a.texts().items {
				next = append(next, level[i]+"/"+child.value)
			}
		}
		slices.Sort(next)
		out = append(out, next...)
		level = next
	}
	return out, nil
}

// clear removes what can be removed of a tree: a node whose access list shuts everybody out stays.
func (c *caretaker) clear(paths []string) error {
	var deletes []operation
	for _, p := range slices.Backward(paths) {
		deletes = append(deletes, op("delete", text{value: p}.String()))
	}
	_, err := c.ask(deletes...)
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
