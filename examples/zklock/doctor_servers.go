package main

import (
	"cmp"
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"io"
	"net"
	"strings"
	"syscall"
	"time"
)

// maxAnswer bounds the part of a server's answer that is read, in bytes.
const maxAnswer = 1 << 16

// lookAtServers asks each server by itself how it is, at each of its addresses.
func (e *examination) lookAtServers(ctx context.Context) {
	e.judgeServers(e.replies(ctx))
}

func (e *examination) judgeServers(all replies) {
	const what = "server"
	for _, r := range all {
		of := versionIn(r.answer)
		switch {
		case r.err != nil && all.elsewhere(r):
			e.note(odd, what, "clients try all addresses of a name, and lose time on this one: take it out of DNS, or mend it",
				"%s: %s", r, plain(r.err))
		case r.err != nil:
			e.note(broken, what, serverAdvice(r.err, e.tls != nil), "%s: %s", r, plain(r.err))
		case r.idle() && all.leadsUnseen():
			e.note(odd, what, "others follow a leader that is not seen. With leaderServes=no this is it, and clients lose time "+
				"on it; or it is starting, and --zk does not name the leader",
				"%s listens, and does not serve", r)
		case r.idle():
			e.note(broken, what, "it has no quorum, or is starting: look at the other servers and at its log",
				"%s listens, but does not serve", r)
		case strings.Contains(r.answer, "not in the whitelist"):
			e.note(odd, what, "4lw.commands.whitelist=srvr at the server lets it say its version",
				"%s listens; it may not say its version", r)
		case r.answer == "":
			e.note(broken, what,
				"is it ZooKeeper's client port? A server that wants TLS needs --tls, one without must not have it. "+
					"A proxy does this where no server behind it is up",
				"%s takes connections, and closes them without an answer", r)
		case r.mode == "":
			e.note(broken, what, "this is something else than ZooKeeper's client port", "%s answers %q", r, cut(r.answer, 40))
		default:
			e.judgeServer(r, of, field(r.answer, "Latency min/avg/max: "))
		}
	}
	if leaders := all.leaders(); leaders > 1 {
		e.note(broken, "servers",
			"all servers of --zk must be of one ensemble: two that are not exclude nobody from each other's "+
				"locks", "%d of them lead, or stand alone", leaders)
	}
}

func (e *examination) judgeServer(r reply, of serverVersion, latency string) {
	grade, do := of.judge()
	e.note(grade, "server", do, "%s: %s, %s, latency min/avg/max %s ms", r, of, r.mode, latency)
}

// fourLetter asks one of ZooKeeper's four-letter words.
func (e *examination) fourLetter(ctx context.Context, at serverAddress, word string) (string, error) {
	return e.word(ctx, at, word, maxAnswer)
}

// word is fourLetter with a bound of the answer, in bytes.
func (e *examination) word(ctx context.Context, at serverAddress, word string, most int64) (string, error) {
	ctx, cancel := context.WithTimeout(ctx, min(e.timeout, 5*time.Second))
	defer cancel()
	var conn net.Conn
	var err error
	if e.tls != nil {
		config := e.tls.Clone()
		config.ServerName = cmp.Or(config.ServerName, at.name)
		conn, err = (&tls.Dialer{Config: config}).DialContext(ctx, "tcp", at.dials)
	} else {
		conn, err = new(net.Dialer).DialContext(ctx, "tcp", at.dials)
	}
	if err != nil {
		return "", err
	}
	defer conn.Close()
	deadline, _ := ctx.Deadline()
	_ = conn.SetDeadline(deadline)
	if _, err := io.WriteString(conn, word); err != nil {
		return "", err
	}
	answer, err := io.ReadAll(io.LimitReader(conn, most))
	if errors.Is(err, syscall.ECONNRESET) || len(answer) > 0 {
		err = nil // the server closes, one way or the other
	}
	return string(answer), err
}

// field gives the value of a name in a server's answer.
func field(answer, name string) string {
	for line := range strings.SplitSeq(answer, "\n") {
		if rest, found := strings.CutPrefix(line, name); found {
			return strings.TrimSpace(rest)
		}
	}
	return ""
}

// alert is the Op of an error with a server's alert, by crypto/tls. Since TLS 1.3 a client reads it when it has shaken
// hands already.
const alert = "remote error"

// serverAdvice says what to do about a server that cannot be asked, with TLS or without.
func serverAdvice(err error, secure bool) string {
	var name *net.DNSError
	var certificate *tls.CertificateVerificationError
	var record tls.RecordHeaderError
	var timeout net.Error
	var op *net.OpError
	switch {
	case errors.As(err, &name):
		return "is the name right, and does this machine's DNS know it?"
	case errors.Is(err, syscall.ECONNREFUSED):
		return "nobody listens there: is ZooKeeper running, and is this its clientPort?"
	case errors.As(err, &certificate):
		return "its certificate is not trusted for that name: look at --tls-ca and --tls-server-name"
	case errors.As(err, &op) && op.Op == alert:
		return "it refuses us: does it want a certificate (--tls-cert, --tls-key), of an authority that it knows?"
	case errors.As(err, &record), secure && errors.Is(err, io.EOF):
		return "it does not speak TLS there: leave the --tls flags out, or name its secureClientPort"
	case errors.As(err, &timeout) && timeout.Timeout() && !secure:
		return "is a firewall between here and there, does the server hang, or does it speak TLS there (--tls)?"
	case errors.As(err, &timeout) && timeout.Timeout():
		return "is a firewall between here and there, or does the server hang?"
	}
	return "can this machine reach it at all?"
}

// plain is an error of the network in a few words.
func plain(err error) string {
	var op *net.OpError
	if errors.As(err, &op) && op.Err != nil {
		return op.Err.Error()
	}
	return err.Error()
}

// serverVersion is the version that a server reports.
type serverVersion struct {
	product string // "ZooKeeper", or another that speaks its protocol
	text    string // as it says it, without the build; empty where it says none
}

// versionIn finds the version in a server's answer to srvr. ClickHouse Keeper says its own.
func versionIn(srvr string) serverVersion {
	const zookeeper, keeper = "Zookeeper version: ", "ClickHouse Keeper version: "
	product, text := "ZooKeeper", field(srvr, zookeeper)
	if other := field(srvr, keeper); other != "" {
		product, text = "ClickHouse Keeper", other
	}
	text, _, _ = strings.Cut(text, ",")
	text, _, _ = strings.Cut(text, "-")
	return serverVersion{product, text}
}

func (v serverVersion) String() string {
	return v.product + " " + cmp.Or(v.text, "of an unknown version")
}

// release is a version of ZooKeeper as numbers.
type release struct{ major, minor, patch int }

func (r release) before(major, minor, patch int) bool {
	return cmp.Or(cmp.Compare(r.major, major), cmp.Compare(r.minor, minor), cmp.Compare(r.patch, patch)) < 0
}

// judge says what to do about a server of that version, where something is to be done (locks/LIMITS.md, "ZooKeeper").
func (v serverVersion) judge() (grade, do string) {
	const run = "run ZooKeeper 3.9.5 or 3.8.6"
	if v.product != "ZooKeeper" {
		return odd, "no lease can be promised here: it begins another session on every reconnect, and expires sessions by the " +
			"wall clock; " + run
	}
	var r release
	if _, err := fmt.Sscanf(v.text, "%d.%d.%d", &r.major, &r.minor, &r.patch); err != nil {
		return odd, "Turnstile does not know this server, and may not be able to promise a lease on it; " + run
	}
	switch {
	case r.before(3, 5, 0):
		return odd, "before 3.5 there are no container nodes, and lock paths stay behind for ever; " + run
	case r == release{3, 9, 3}:
		return odd, "3.9.3 loses data (ZOOKEEPER-4925); " + run
	case r.before(3, 8, 6), !r.before(3, 9, 0) && r.before(3, 9, 5):
		return odd, "CVE-2024-23944, CVE-2026-24281 and CVE-2026-24308 are fixed in 3.8.6 and 3.9.5, and servers before may come " +
			"to differ (ZOOKEEPER-4785 and others); " + run
	}
	return fine, ""
}
