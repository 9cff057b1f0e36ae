package main

import (
	"bytes"
	"encoding/json"
	"fmt"
	"os"
	"strings"
	"time"

	"github.com/turnstile-locks/turnstile/messages"
)

// jsonContender is a contender as --json shows it. Numbers that do not fit into a double are texts.
type jsonContender struct {
	Path     string    `json:"path"`
	Node     string    `json:"node"`
	Queue    string    `json:"queue,omitempty"`
	Sequence int32     `json:"sequence"`
	Mode     string    `json:"mode"`
	Permits  int       `json:"permits,omitempty"`
	Holds    bool      `json:"holds"`
	MayHold  bool      `json:"may_hold,omitempty"`
	WaitsFor []string  `json:"waits_for,omitempty"`
	Token    string    `json:"token,omitempty"`
	Session  string    `json:"session"`
	Library  string    `json:"library,omitempty"`
	Asked    bool      `json:"revoking,omitempty"`
	Unread   bool      `json:"unread,omitempty"`
	Host     string    `json:"host,omitempty"`
	PID      int       `json:"pid,omitempty"`
	Label    string    `json:"label,omitempty"`
	Who      string    `json:"who,omitempty"`
	Since    time.Time `json:"asked_at"`
}

func toJSON(c messages.Contender) jsonContender {
	j := jsonContender{Path: c.Path, Node: c.Node, Queue: c.Name, Sequence: c.Sequence, Mode: c.Mode.String(),
		Permits: c.Weight, Holds: c.Holds, MayHold: c.MayHold, WaitsFor: c.WaitsFor, Session: fmt.Sprintf("0x%x", c.Session), Library: string(c.Library),
		Asked: c.Asked, Unread: c.Unread, Host: c.Host, PID: c.PID, Label: c.Label, Who: c.Who, Since: c.Since}
	if c.Token != 0 {
		j.Token = c.Token.String()
	}
	return j
}

func allToJSON(contenders []messages.Contender) []jsonContender {
	all := make([]jsonContender, 0, len(contenders)) // [] and not null where it is empty
	for _, c := range contenders {
		all = append(all, toJSON(c))
	}
	return all
}

// printJSON prints a value: in one line where more will follow. Texts that others have written into
// nodes are printed whole, but not raw: characters that printable replaces are escaped.
func printJSON(v any, oneLine bool) error {
	var text bytes.Buffer
	enc := json.NewEncoder(&text)
	enc.SetEscapeHTML(false)
	if !oneLine {
		enc.SetIndent("", "  ")
	}
	if err := enc.Encode(v); err != nil {
		return err
	}
	var b strings.Builder
	for _, r := range text.String() {
		if r != '\n' && unprintable(r) { // the rest of those is inside of strings
			fmt.Fprintf(&b, `\u%04x`, r)
		} else {
			b.WriteRune(r)
		}
	}
	_, err := os.Stdout.WriteString(b.String())
	return err
}

// show prints an answer, as JSON or for people.
func show(asJSON bool, value any, lines []string) error {
	if asJSON {
		return printJSON(value, false)
	}
	for _, line := range lines {
		if err := say(os.Stdout, "%s", line); err != nil {
			return err
		}
	}
	return nil
}
