package simulation

import (
	"encoding/binary"
	"fmt"
	"regexp"
	"strconv"
	"strings"

	"github.com/turnstile-locks/turnstile/zkconn/embedded"
)

// frame is one frame on its way: what it says, in words, and its bytes, length and all.
type frame struct {
	text  string
	bytes []byte
	op    embedded.Op // of a request
	xid   int32
	event bool // a watch event
	// Of the answer to a request that is no ping.
	answers bool
	zxid    int64 // of the newest transaction that the server had carried out
}

const (
	xidEvent = -1
	xidPing  = -2
)

// request words a client's frame that is not its first.
func request(b []byte) frame {
	r := reader{b[4:]}
	xid, op := r.int32(), embedded.Op(r.int32())
	f := frame{bytes: b, op: op, xid: xid, text: op.String()}
	switch op {
	case embedded.OpPing, embedded.OpCloseSession:
	case embedded.OpMulti:
		f.text += " " + r.multi()
	default:
		f.text += " " + short(r.str())
	}
	return f
}

// reply words a server's frame that is not its first, and answers what was asked, if anything.
func reply(b []byte, asked string) frame {
	r := reader{b[4:]}
	f := frame{bytes: b, xid: r.int32()}
	f.zxid = r.int64()
	code := r.int32()
	switch f.xid {
	case xidEvent:
		kind := r.int32()
		r.skip(4)
		f.event, f.text = true, fmt.Sprintf("event %s %s", eventNames[kind], short(r.str()))
	case xidPing:
		f.text = "pong"
	default:
		f.answers, f.text = true, fmt.Sprintf("answer %d to %s", code, asked)
	}
	return f
}

var eventNames = map[int32]string{1: "created", 2: "deleted", 3: "changed", 4: "children"}

// multi words the parts of a transaction.
func (r *reader) multi() string {
	var parts []string
	for len(r.b) > 0 {
		op := embedded.Op(r.int32())
		done := r.byte()
		r.skip(4)
		if done {
			break
		}
		path := r.str()
		var by []string
		switch op {
		case embedded.OpCreate, embedded.OpCreate2, embedded.OpCreateContainer:
			by = maker.FindStringSubmatch(r.str()) // the data
			for n := r.int32(); n > 0; n-- {
				r.skip(4)
				r.str()
				r.str()
			}
			r.skip(4)
		case embedded.OpSetData:
			r.str()
			r.skip(4)
		default: // check, delete
			r.skip(4)
		}
		part := op.String() + " " + short(path)
		if by != nil && strings.HasSuffix(path, "/"+contested) {
			number, _ := strconv.ParseUint(by[1], 16, 32)
			part += fmt.Sprintf(" by r%d", number)
		}
		parts = append(parts, part)
	}
	return strings.Join(parts, ", ")
}

// maker finds the GUID of a contest's contender in the data of its node.
var maker = regexp.MustCompile(`"id":"([0-9a-f]{8})`)

// node finds the names of contenders.
var node = regexp.MustCompile(`_c_([0-9a-f-]{36})-(other_)?(lock|__READ_|__WRIT_|permits-\d+|permits_\d+|read|write)[-_](\d*)`)

// short makes names of contenders short: request 3's node 7 is r3#7, and node 8 of a hold that was asked for
// after the start of any request is hold#8. Those of readers, writers, semaphores and queues
// with a name are told apart by a letter.
func short(s string) string {
	if !strings.Contains(s, "_c_") {
		return s
	}
	return node.ReplaceAllStringFunc(s, func(name string) string {
		parts := node.FindStringSubmatch(name)
		letter := ""
		switch parts[3][0] {
		case '_', 'r', 'w':
			letter = strings.ToUpper(strings.Trim(parts[3], "_")[:1])
		case 'p':
			letter = "S"
		}
		if parts[2] != "" {
			letter = "N" + letter
		}
		whose := "hold"
		if number := guids.maker(parts[1]); number > 0 {
			whose = fmt.Sprintf("r%d", number)
		}
		return fmt.Sprintf("%s#%s%s", whose, strings.TrimLeft(parts[4], "0"), letter)
	})
}

// reader takes a frame apart; what is not there reads as nothing.
type reader struct{ b []byte }

func (r *reader) take(n int) []byte {
	if n < 0 || n > len(r.b) {
		n = len(r.b)
	}
	head := r.b[:n]
	r.b = r.b[n:]
	return head
}

func (r *reader) skip(n int) { r.take(n) }

func (r *reader) int32() int32 {
	if b := r.take(4); len(b) == 4 {
		return int32(binary.BigEndian.Uint32(b))
	}
	return 0
}

func (r *reader) int64() int64 {
	if b := r.take(8); len(b) == 8 {
		return int64(binary.BigEndian.Uint64(b))
	}
	return 0
}

func (r *reader) byte() bool { b := r.take(1); return len(b) == 1 && b[0] != 0 }

func (r *reader) str() string {
	if n := r.int32(); n > 0 {
		return string(r.take(int(n)))
	}
	return ""
}
