package conformance

// hello is a client's first frame.
type hello struct {
	protocol int32
	zxid     int64
	timeout  int32
	id       int64
	password text
	readOnly string // true, false, or absent as in clients before 3.4
	cut, pad int    // bytes missing at the end, and behind it
}

func (h hello) frame() []byte {
	var e encoder
	e.int32(h.protocol)
	e.int64(h.zxid)
	e.int32(h.timeout)
	e.int64(h.id)
	e.text(h.password)
	if h.readOnly != "absent" {
		e.bool(h.readOnly == "true")
	}
	e.bytes = e.bytes[:max(0, len(e.bytes)-h.cut)]
	return frame(append(e.bytes, make([]byte, h.pad)...))
}

// welcome is a server's answer to it.
type welcome struct {
	protocol int32
	timeout  int32
	id       int64
	password text
	rest     []byte // the read-only byte, if the client sent one
	err      error
}

func readWelcome(body []byte) welcome {
	d := decoder{bytes: body}
	w := welcome{protocol: d.int32(), timeout: d.int32(), id: d.int64(), password: d.text()}
	w.rest, w.err = d.bytes, d.err
	return w
}

// lifetime is asked for where nothing else is said: no session may end on its own.
const lifetime = 60_000

var emptyPassword = text{value: string(make([]byte, 16))}

func newcomer() hello {
	return hello{timeout: lifetime, password: emptyPassword, readOnly: "false"}
}

// greet sends a hello on a new connection and returns both with the answer. The
// error says that the server hung up instead, or could not be reached.
func greet(addr string, h hello) (*wire, welcome, error) {
	w, err := dial(addr)
	if err != nil {
		return nil, welcome{}, err
	}
	w.write(h.frame())
	body, err := w.read()
	if err != nil {
		w.close()
		return nil, welcome{}, err
	}
	return w, readWelcome(body), nil
}
