package main

import (
	"bufio"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"
)

// member is a server that a suite wants, alone or one of an ensemble, as its configuration file says.
type member struct {
	Addr    string            // where clients connect, host:port
	DataDir string            // the folder for its data: what it keeps when it is stopped
	Peers   []string          // the lines server.N of its ensemble, sorted; empty where it is alone
	Tick    time.Duration     // 3 s unless told otherwise, as in ZooKeeper
	Least   time.Duration     // of session timeouts; 0: two ticks
	Most    time.Duration     // of session timeouts; 0: twenty ticks
	Sync    int               // the sync limit, in ticks; 0: five
	Users   map[string]string // those of SASL, with their passwords; empty: no SASL
	SASL    bool              // clients must authenticate themselves with it
	Frame   int               // the largest frame, in bytes; 0: as in ZooKeeper
	Reap    time.Duration     // how often containers are looked at; 0: a minute
}

// readMember reads the command line of a server of ZooKeeper: its properties, then the configuration file.
func readMember(args []string) (member, error) {
	if len(args) == 0 {
		return member{}, errors.New("no configuration file in the command line of a server")
	}
	m, err := readConfig(args[len(args)-1])
	if err != nil {
		return member{}, err
	}
	var jaas string
	section := "Server"
	for _, arg := range args {
		property, value, _ := strings.Cut(strings.TrimPrefix(arg, "-D"), "=")
		switch property {
		case "java.security.auth.login.config":
			jaas = value
		case "zookeeper.sasl.serverconfig":
			section = value
		case "zookeeper.sessionRequireClientSASLAuth":
			m.SASL = value == "true"
		case "jute.maxbuffer":
			m.Frame, err = strconv.Atoi(value)
		case "znode.container.checkIntervalMs":
			m.Reap, err = readMilliseconds(value)
		}
		if err != nil {
			return member{}, fmt.Errorf("%s: %w", arg, err)
		}
	}
	if jaas != "" {
		m.Users, err = readUsers(jaas, section)
	}
	return m, err
}

// readConfig reads a zoo.cfg. Its settings for the disk, for other ports and for limits do not concern an embedded
// server.
func readConfig(path string) (member, error) {
	m := member{Tick: 3 * time.Second}
	host, port := "127.0.0.1", ""
	err := eachLine(path, func(line string) (err error) {
		key, value, _ := strings.Cut(line, "=")
		switch key = strings.TrimSpace(key); key {
		case "clientPort":
			port = value
		case "clientPortAddress":
			host = value
		case "dataDir":
			m.DataDir = value
		case "tickTime":
			m.Tick, err = readMilliseconds(value)
		case "minSessionTimeout":
			m.Least, err = readMilliseconds(value)
		case "maxSessionTimeout":
			m.Most, err = readMilliseconds(value)
		case "syncLimit":
			m.Sync, err = strconv.Atoi(value)
		default:
			if strings.HasPrefix(key, "server.") {
				m.Peers = append(m.Peers, line)
			}
		}
		return err
	})
	if err != nil {
		return m, err
	}
	if port == "" || m.DataDir == "" {
		return m, fmt.Errorf("%s: no clientPort, or no dataDir", path)
	}
	m.Addr = host + ":" + port
	slices.Sort(m.Peers)
	m.DataDir, err = filepath.Abs(m.DataDir)
	return m, err
}

// readUsers reads the users for DIGEST-MD5 in a section of a JAAS file: user_<name>="<password>".
func readUsers(path, section string) (map[string]string, error) {
	users := map[string]string{}
	within := false
	err := eachLine(path, func(line string) error {
		if name, opens := strings.CutSuffix(line, "{"); opens {
			within = strings.TrimSpace(name) == section
		}
		name, password, ok := strings.Cut(line, "=")
		if name, user := strings.CutPrefix(name, "user_"); ok && user && within {
			users[name] = strings.Trim(password, `";`)
		}
		return nil
	})
	return users, err
}

func readMilliseconds(value string) (time.Duration, error) {
	n, err := strconv.Atoi(value)
	return time.Duration(n) * time.Millisecond, err
}

// eachLine calls a function for every line of a file that says something, without the blanks around it.
func eachLine(path string, do func(line string) error) error {
	file, err := os.Open(path)
	if err != nil {
		return err
	}
	defer func() { _ = file.Close() }()
	lines := bufio.NewScanner(file)
	for lines.Scan() {
		line := strings.TrimSpace(lines.Text())
		if line == "" || strings.HasPrefix(line, "#") {
			continue
		}
		if err := do(line); err != nil {
			return fmt.Errorf("%s: %q: %w", path, line, err)
		}
	}
	if err := lines.Err(); err != nil {
		return fmt.Errorf("%s: %w", path, err)
	}
	return nil
}
