package web

import (
	"bytes"
	"encoding/json"
	"fmt"
	"net/http"
	"time"
)

const (
	// mostStreams bounds how many pages are served at a time.
	mostStreams = 256
	// between is the pause between two messages of a stream, however fast the locks move.
	between = 250 * time.Millisecond
	// atLeast is the period in which a page is made anew when nothing has happened: figures of the
	// last seconds change.
	atLeast = time.Second
	// beats is the period in which a page hears that the dashboard lives.
	beats = 3 * time.Second
	// slowest bounds the time that a message may take to be sent.
	slowest = 10 * time.Second
)

// message is a message to a page. It has the changes, and nothing else. Now is our clock, in
// milliseconds, by which the page counts how long ago things were.
type message struct {
	Now     int64              `json:"now"`
	Page    *page              `json:"page,omitempty"`
	Figures any                `json:"figures,omitempty"`
	Rate    any                `json:"rate,omitempty"`
	Lists   map[string]*change `json:"lists,omitempty"`
}

// page has the parts that do not change while a page is open.
type page struct {
	Servers string `json:"servers"`
	Revoke  bool   `json:"revoke"` // a token is known, so that revoke requests can be sent
}

// content is the content of a page at one moment.
type content struct {
	figures, rate any
	lists         map[string][]row
}

// memory is the content that a page has been sent.
type memory struct {
	figures, rate string
	lists         map[string]*list
}

// update gives what has changed; false where nothing has.
func (m *memory) update(now content) (msg message, changed bool, err error) {
	for _, part := range []struct {
		value any
		sent  *string
		set   func(any)
	}{
		{now.figures, &m.figures, func(v any) { msg.Figures = v }},
		{now.rate, &m.rate, func(v any) { msg.Rate = v }},
	} {
		text, err := json.Marshal(part.value)
		if err != nil {
			return msg, false, err
		}
		if string(text) != *part.sent {
			*part.sent, changed = string(text), true
			part.set(json.RawMessage(text))
		}
	}
	for name, rows := range now.lists {
		if m.lists[name] == nil {
			m.lists[name] = &list{unordered: name == bars || name == proofs}
		}
		c, err := m.lists[name].update(rows)
		if err != nil {
			return msg, false, err
		}
		if c != nil {
			if msg.Lists == nil {
				msg.Lists = map[string]*change{}
			}
			msg.Lists[name], changed = c, true
		}
	}
	return msg, changed, nil
}

// stream sends a page what it shows, for as long as it is open. A page that takes its messages slowly gets fewer, and
// each of them with all that has changed.
func (d *Dashboard) stream(w http.ResponseWriter, r *http.Request, show func(now time.Time) content) {
	if r.Body != nil && r.Body != http.NoBody {
		refuse(w, http.StatusBadRequest, "To follow takes no body.")
		return
	}
	select {
	case d.streams <- struct{}{}:
		defer func() { <-d.streams }()
	default:
		w.Header().Set("Retry-After", "5")
		refuse(w, http.StatusServiceUnavailable, "Too many pages are open.")
		return
	}
	endReading(w)
	w.Header().Set("Content-Type", "text/event-stream")
	w.Header().Set("Cache-Control", "no-store")
	w.Header().Set("X-Accel-Buffering", "no") // nginx would keep events back otherwise
	s := sender{w: w, control: http.NewResponseController(w)}
	sent := memory{lists: map[string]*list{}}
	first := true
	heard := time.Now()
	for {
		changed := d.Board.Changed() // before it is read: what changes from here on wakes us
		now := time.Now()
		msg, any, err := sent.update(show(now))
		if err != nil {
			d.Log.Error("a page cannot be written", "page", r.URL.Path, "error", err)
			return
		}
		msg.Now = now.UnixMilli()
		if first {
			msg.Page, first = &page{Servers: d.Servers, Revoke: d.Token != ""}, false
		}
		if any || now.Sub(heard) >= beats {
			if s.send("view", msg) != nil {
				return
			}
			heard = now
		}
		if !d.rest(r, changed) {
			return
		}
	}
}

// rest waits for the next message's time: until something has changed, but not too short and not too long. It gives
// false when the page is gone, or we end.
func (d *Dashboard) rest(r *http.Request, changed <-chan struct{}) bool {
	for _, wait := range []struct {
		after time.Duration
		wake  <-chan struct{}
	}{{between, nil}, {atLeast - between, changed}} {
		timer := time.NewTimer(wait.after)
		select {
		case <-timer.C:
		case <-wait.wake:
		case <-r.Context().Done():
			timer.Stop()
			return false
		case <-d.ended:
			timer.Stop()
			return false
		}
		timer.Stop()
	}
	return true
}

// endReading takes the server's time limit for a request's reading away, after which the connection would be taken for
// lost. All of the request has to have been read: a body that never ends would be waited for for ever. net/http of Go 1.26
// does the same once a request has been read, but does not promise it.
func endReading(w http.ResponseWriter) {
	_ = http.NewResponseController(w).SetReadDeadline(time.Time{}) // not every connection has one
}

// sender writes server-sent events.
type sender struct {
	w       http.ResponseWriter
	control *http.ResponseController
}

// send writes an event: its data are one line, as JSON has no line breaks.
func (s sender) send(event string, data any) error {
	text, err := json.Marshal(data)
	if err != nil {
		return err
	}
	var b bytes.Buffer
	fmt.Fprintf(&b, "event: %s\ndata: %s\n\n", event, text)
	_ = s.control.SetWriteDeadline(time.Now().Add(slowest)) // not every connection has one
	if _, err := s.w.Write(b.Bytes()); err != nil {
		return err
	}
	return s.control.Flush()
}
