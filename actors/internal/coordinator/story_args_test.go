package coordinator

import (
	"fmt"
	"regexp"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/cockroachdb/datadriven"
	"github.com/stretchr/testify/require"

	"github.com/turnstile-locks/turnstile/actors/queue"
	"github.com/turnstile-locks/turnstile/messages"
)

// arguments are the arguments of one line of a story. Each is to be used.
type arguments struct {
	t    *testing.T
	at   string
	list []datadriven.CmdArg
	used map[string]bool
}

func joined(list []datadriven.CmdArg) string {
	var all []string
	for _, arg := range list {
		all = append(all, arg.String())
	}
	return strings.Join(all, " ")
}

func (a *arguments) wrong(format string, args ...any) {
	a.t.Helper()
	require.FailNow(a.t, a.at+": "+fmt.Sprintf(format, args...))
}

// next takes the first word that stands for itself.
func (a *arguments) next() string {
	for i, arg := range a.list {
		if len(arg.Vals) == 0 {
			a.list = append(a.list[:i:i], a.list[i+1:]...)
			return arg.Key
		}
	}
	a.wrong("a word is missing")
	return ""
}

func (a *arguments) find(key string) *datadriven.CmdArg {
	for i, arg := range a.list {
		if arg.Key == key {
			if a.used == nil {
				a.used = map[string]bool{}
			}
			a.used[key] = true
			return &a.list[i]
		}
	}
	return nil
}

func (a *arguments) has(key string) bool { return a.find(key) != nil }

func (a *arguments) values(key string) []string {
	if arg := a.find(key); arg != nil {
		return arg.Vals
	}
	return nil
}

// text gives the value of a key, or the other one.
func (a *arguments) text(key, otherwise string) string {
	if all := a.values(key); len(all) > 0 {
		return strings.ReplaceAll(all[0], "_", " ")
	}
	return otherwise
}

func (a *arguments) number(key string, otherwise int) int {
	text := a.text(key, "")
	if text == "" {
		return otherwise
	}
	n, err := strconv.Atoi(text)
	if err != nil {
		a.wrong("%v", err)
	}
	return n
}

func (a *arguments) time(key string, otherwise time.Duration) time.Duration {
	text := a.text(key, "")
	if text == "" {
		return otherwise
	}
	d, err := time.ParseDuration(text)
	if err != nil {
		a.wrong("%v", err)
	}
	return d
}

func (a *arguments) allUsed() {
	for _, arg := range a.list {
		if !a.used[arg.Key] {
			a.wrong("%s means nothing here", arg.Key)
		}
	}
}

// failure reads fails=no-node and the like.
func (a *arguments) failure() Failure {
	failures := map[string]Failure{
		"": {}, "refused": {Outcome: Refused}, "not-sent": {Outcome: NotSent}, "unknown": {Outcome: Unknown},
		"no-node": {Outcome: Refused, Cause: NoNode}, "node-exists": {Outcome: Refused, Cause: NodeExists},
		"hung-up":   {Outcome: Unknown, Trouble: "the server hangs up on it"},
		"throttled": {Outcome: Deferred, Trouble: "the server is throttled"},
		"quota":     {Outcome: Refused, Cause: OverQuota}, "local": {Outcome: Refused, Cause: LocalSession},
		"no-auth": {Outcome: Refused, Cause: NoAuth}, "no-permits": {Outcome: Refused, Cause: NoPermits},
	}
	f, ok := failures[a.text("fails", "")]
	if !ok {
		a.wrong("no such failure")
	}
	if path := a.values("at"); path != nil {
		f.Path = longPath(path[0])
	}
	return f
}

// names gives the nodes of a list.
func (a *arguments) names(key string) (all []string) {
	for _, short := range a.values(key) {
		all = append(all, long(short))
	}
	return all
}

// styles gives the style of a node's name in a story, by the word between its maker and its number.
var styles = map[string]queue.Style{"": {}, "read": {Mode: messages.Read}, "write": {Mode: messages.Write},
	"lock": {Naming: messages.RecipeNaming}}

// shortName is the name of a node in a story; longName as the servers know it.
var (
	shortName = regexp.MustCompile(`^((?:reclaim-)?\w+)-(?:(permits-\d+|\w+)-)?(\d+)$`)
	longName  = regexp.MustCompile(`_c_((?:reclaim-)?\w+)-(?:lock-|(__READ__|__WRIT__|permits-\d+-)|(\w+)_lock_)(\d{10})`)
	// The GUID of an attempt, and a guard in a contest, likewise.
	shortGUID  = regexp.MustCompile(`^r(\d+)([b-z]?)$`)
	shortGuard = regexp.MustCompile(`^(\w+)-(r\d+[b-z]?)$`)
	longGUID   = regexp.MustCompile(`00000000-0000-000\d-(\w{4})-(\w{12})(?:-guard)?`)
)

// long gives the name of a node; what is no short one stands for itself, as a contest's.
func long(short string) string {
	if parts := shortGuard.FindStringSubmatch(short); parts != nil {
		return queue.GuardName(parts[1], guidOf(parts[2]))
	}
	parts := shortName.FindStringSubmatch(short)
	if parts == nil {
		return short
	}
	number, _ := strconv.Atoi(parts[3])
	return nameOf(styleCalled(parts[2]), guidOf(parts[1]), number)
}

// guidOf gives the GUID of an attempt in the first epoch: r1 is the first of request r1, r1b the second. What is no such
// name stands for itself, as another session's.
func guidOf(short string) string {
	rest, reclaims := strings.CutPrefix(short, queue.Reclaimable)
	parts := shortGUID.FindStringSubmatch(rest)
	if parts == nil {
		return short
	}
	id, _ := strconv.ParseUint(parts[1], 10, 64)
	attempt := uint16(0)
	if parts[2] != "" {
		attempt = uint16(parts[2][0] - 'a')
	}
	guid := (&Spec{Want: &messages.Acquire{}}).guid(markOf(1), &node{of: RequestID(id), attempt: attempt})
	if reclaims {
		guid = queue.Reclaimable + guid
	}
	return guid
}

func styleCalled(name string) queue.Style {
	style, ok := styles[name]
	weight, heavy := strings.CutPrefix(name, "permits-")
	switch {
	case ok:
		return style
	case heavy:
		n, _ := strconv.Atoi(weight)
		return queue.Style{Mode: messages.Semaphore, Weight: n}
	default:
		return queue.Style{Name: name}
	}
}

func nameOf(style queue.Style, guid string, number int) string {
	return fmt.Sprintf("%s%010d", style.Prefix(guid), number)
}

// longPath is long for the last part of a path.
func longPath(path string) string {
	at := strings.LastIndex(path, "/") + 1
	return path[:at] + long(path[at:])
}

// shortened writes the names of nodes in a text as stories do.
func shortened(text string) string {
	text = longGUID.ReplaceAllStringFunc(text, func(guid string) string {
		parts := longGUID.FindStringSubmatch(guid)
		attempt, _ := strconv.ParseUint(parts[1], 16, 8)
		id, _ := strconv.ParseUint(parts[2], 16, 64)
		return fmt.Sprintf("r%d", id) + strings.TrimPrefix(string(rune('a'+attempt)), "a")
	})
	return longName.ReplaceAllStringFunc(text, func(name string) string {
		parts := longName.FindStringSubmatch(name)
		number, _ := strconv.Atoi(parts[4])
		of := map[string]string{"__READ__": "read-", "__WRIT__": "write-"}[parts[2]]
		switch {
		case of == "" && parts[2] != "":
			of = parts[2]
		case parts[3] != "":
			of = parts[3] + "-"
		}
		return fmt.Sprintf("%s-%s%d", parts[1], of, number)
	})
}
