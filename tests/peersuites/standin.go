package main

import (
	"encoding/json"
	"fmt"
	"io"
	"net"
	"os"
	"path/filepath"
)

// hostVariable is the environment variable that tells stand-ins where their [host] is.
const hostVariable = "TURNSTILE_PEERSUITES_HOST"

// standIn is the first argument of this program where it stands in for a server: it takes the command line of a server
// of ZooKeeper, has the host run an embedded server in its place, and ends when the host does. When the process is
// killed, the kernel closes its connection, and the server is gone.
const standIn = "stand-in"

// stand runs until the host hangs up.
func stand(args []string) error {
	m, err := readMember(args)
	if err != nil {
		return err
	}
	conn, err := net.Dial("tcp", os.Getenv(hostVariable))
	if err != nil {
		return fmt.Errorf("%s=%s: %w", hostVariable, os.Getenv(hostVariable), err)
	}
	defer func() { _ = conn.Close() }()
	if err := json.NewEncoder(conn).Encode(m); err != nil {
		return err
	}
	_, err = io.Copy(os.Stdout, conn)
	return err
}

// writeCommand writes an executable shell script.
func writeCommand(folder, name, script string) error {
	if err := os.WriteFile(filepath.Join(folder, name), []byte("#!/bin/sh\n"+script+"\n"), 0o700); err != nil {
		return fmt.Errorf("command %s: %w", name, err)
	}
	return nil
}
