package kdc

import (
	"errors"
	"fmt"
	"os"
	"strings"
	"testing"
	"time"
)

// admin runs one command of kadmin.local, which says by words alone that it has failed.
func (k *KDC) admin(t testing.TB, command string) {
	t.Helper()
	output, err := k.command(adminProgram, "-r", k.realm, "-q", command).CombinedOutput()
	for _, sign := range []string{"while ", "usage:", "Unknown request"} {
		if err == nil && strings.Contains(string(output), sign) {
			err = errors.New("it failed")
		}
	}
	if err != nil {
		t.Fatalf("kdc: %s: %v: %s", command, err, output)
	}
}

// Add makes principals with random keys.
func (k *KDC) Add(t testing.TB, names ...string) {
	t.Helper()
	for _, name := range names {
		k.admin(t, "addprinc -randkey "+name)
	}
}

// AddWith makes a principal with more flags of kadmin's addprinc: -maxlife, -e, -pw.
func (k *KDC) AddWith(t testing.TB, name string, flags ...string) {
	t.Helper()
	k.admin(t, "addprinc "+strings.Join(flags, " ")+" "+name)
}

// Modify changes a principal by flags of kadmin's modprinc: -allow_tix, -expire.
func (k *KDC) Modify(t testing.TB, name string, flags ...string) {
	t.Helper()
	k.admin(t, "modprinc "+strings.Join(flags, " ")+" "+name)
}

// ChangeKey gives a principal a new random key of the next version: older keytabs do not work any
// more.
func (k *KDC) ChangeKey(t testing.TB, name string) {
	t.Helper()
	k.admin(t, "cpw -randkey "+name)
}

// ChangeKeyTo gives a principal a new random key of an encryption type alone.
func (k *KDC) ChangeKeyTo(t testing.TB, name, enctype string) {
	t.Helper()
	k.admin(t, "cpw -randkey -e "+enctype+":normal "+name)
}

// Delete removes a principal.
func (k *KDC) Delete(t testing.TB, name string) {
	t.Helper()
	k.admin(t, "delprinc -force "+name)
}

// Keytab makes a file with the present keys of principals and gives its path.
func (k *KDC) Keytab(t testing.TB, names ...string) string {
	t.Helper()
	path := k.fresh("keytab")
	k.KeytabAt(t, path, names...)
	return path
}

// KeytabAt makes the file again, as it is changed in place.
func (k *KDC) KeytabAt(t testing.TB, path string, names ...string) {
	t.Helper()
	next := k.fresh("keytab")
	for _, name := range names {
		k.admin(t, fmt.Sprintf("ktadd -k %s -norandkey %s", next, name))
	}
	if err := os.Rename(next, path); err != nil {
		t.Fatal(err)
	}
}

// Cache logs a principal in and gives the path of a credential cache, whose ticket lasts for a time.
func (k *KDC) Cache(t testing.TB, name string, lifetime time.Duration) string {
	t.Helper()
	path := k.fresh("cache")
	k.CacheAt(t, path, name, lifetime)
	return path
}

// CacheAt logs a principal in again into a credential cache.
func (k *KDC) CacheAt(t testing.TB, path, name string, lifetime time.Duration) {
	t.Helper()
	seconds := fmt.Sprintf("%ds", int(lifetime.Seconds()))
	if err := k.run(loginProgram, "-k", "-t", k.Keytab(t, name), "-c", "FILE:"+path, "-l", seconds, name); err != nil {
		t.Fatal(err)
	}
}

// TicketInto puts a ticket for a service into a credential cache.
func (k *KDC) TicketInto(t testing.TB, path, service string) {
	t.Helper()
	if err := k.run(ticketProgram, "-c", "FILE:"+path, service); err != nil {
		t.Fatal(err)
	}
}
