package zkconn

import (
	"fmt"
	"net"
	"strconv"
	"strings"
	"unicode"
)

const defaultPort = "2181"

// parseServers takes a connect string apart: servers separated by commas, and one chroot behind the last of them.
func parseServers(connect string) (servers []string, chroot string, err error) {
	if scheme, rest, has := strings.Cut(connect, "://"); has {
		return nil, "", fmt.Errorf("%w: servers %q: no scheme belongs there: %q in place of %q",
			ErrBadConfig, connect, rest, scheme+"://"+rest)
	}
	list, root, hasRoot := strings.Cut(connect, "/")
	if strings.TrimSpace(list) == "" {
		return nil, "", fmt.Errorf("%w: servers %q: must name at least one server", ErrBadConfig, connect)
	}
	for entry := range strings.SplitSeq(list, ",") {
		server, rule := parseServer(strings.TrimSpace(entry))
		if rule != "" {
			return nil, "", fmt.Errorf("%w: server %q in %q: %s", ErrBadConfig, entry, connect, rule)
		}
		servers = append(servers, server)
	}
	if !hasRoot || root == "" {
		return servers, "", nil
	}
	chroot = "/" + strings.TrimSuffix(root, "/")
	// "h1/a,h2/a" would otherwise be one server with the chroot "/a,h2/a": locks that exclude nobody.
	if strings.Contains(chroot, ",") {
		return nil, "", fmt.Errorf("%w: chroot %q: comes once, behind the last server", ErrBadConfig, chroot)
	}
	if err := CheckPath(chroot); err != nil {
		return nil, "", fmt.Errorf("%w: chroot: %w", ErrBadConfig, err)
	}
	return servers, chroot, nil
}

// parseServer gives host:port, or the rule that the entry breaks.
func parseServer(entry string) (server, rule string) {
	if strings.ContainsFunc(entry, func(r rune) bool { return r == ';' || unicode.IsSpace(r) }) {
		return "", "servers are separated by commas"
	}
	host, port := entry, defaultPort
	bracketed := strings.HasPrefix(entry, "[")
	switch {
	case bracketed && strings.HasSuffix(entry, "]"):
		host = entry[1 : len(entry)-1]
	case bracketed || strings.Contains(entry, ":"):
		if !bracketed && strings.Count(entry, ":") > 1 {
			return "", "an IPv6 address stands in brackets"
		}
		var err error
		if host, port, err = net.SplitHostPort(entry); err != nil {
			return "", "must be host, host:port or [address]:port"
		}
	}
	if host == "" {
		return "", "host must not be empty"
	}
	if bracketed && !strings.Contains(host, ":") {
		return "", "only an IPv6 address stands in brackets"
	}
	if strings.ContainsFunc(host, func(r rune) bool { return unicode.IsControl(r) || r == '[' || r == ']' }) {
		return "", "host must not contain control characters or brackets"
	}
	number, err := strconv.ParseUint(port, 10, 16)
	if err != nil || number == 0 {
		return "", fmt.Sprintf("port %q must be a number from 1 to 65535", port)
	}
	return net.JoinHostPort(host, strconv.FormatUint(number, 10)), ""
}
