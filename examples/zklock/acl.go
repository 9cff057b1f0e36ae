package main

import (
	"strings"

	"github.com/go-zookeeper/zk"
	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/turnstile-locks/turnstile/locks"
	"github.com/turnstile-locks/turnstile/zkconn"
)

// access is who may do what with the nodes that are made, as the flags say it.
type access struct {
	nodes, parents []string
}

func (a *access) addFlags(f *pflag.FlagSet) {
	f.StringArrayVar(&a.nodes, "acl", nil,
		"an entry of the `ACL` of what is made,\nSCHEME:ID:PERMISSIONS, of cdrwa\n(default world:anyone:cdrwa)")
	f.StringArrayVar(&a.parents, "parent-acl", nil,
		"an entry of the `ACL` of lock paths and what\nis above them (default: that of --acl)")
}

// permissions are the letters that ZooKeeper's own tools have for them.
var permissions = map[rune]int32{'c': zk.PermCreate, 'd': zk.PermDelete, 'r': zk.PermRead, 'w': zk.PermWrite,
	'a': zk.PermAdmin}

// acls are the lists that the flags have named; nil for what zkconn does without.
type acls struct{ nodes, parents []zkconn.ACL }

func (a *access) read(cmd *cobra.Command) (all acls, err error) {
	if all.nodes, err = parseACL(cmd, "acl", a.nodes); err != nil {
		return all, err
	}
	all.parents, err = parseACL(cmd, "parent-acl", a.parents)
	return all, err
}

// connection gives the options of a connection.
func (a acls) connection() (opts []zkconn.Option) {
	if len(a.nodes) > 0 {
		opts = append(opts, zkconn.WithACL(a.nodes...))
	}
	if len(a.parents) > 0 {
		opts = append(opts, zkconn.WithParentACL(a.parents...))
	}
	return opts
}

// client gives the same for a client.
func (a acls) client() (opts []locks.Option) {
	if len(a.nodes) > 0 {
		opts = append(opts, locks.WithACL(a.nodes...))
	}
	if len(a.parents) > 0 {
		opts = append(opts, locks.WithParentACL(a.parents...))
	}
	return opts
}

// parseACL reads the entries of an ACL. An id may have colons in it, and an entry a secret: it is not shown.
func parseACL(cmd *cobra.Command, flag string, entries []string) (acl []zkconn.ACL, err error) {
	for _, text := range entries {
		scheme, rest, ok := strings.Cut(text, ":")
		last := strings.LastIndexByte(rest, ':')
		entry := zkconn.ACL{Scheme: scheme}
		if last >= 0 {
			entry.ID = rest[:last]
			for _, letter := range rest[last+1:] {
				if permissions[letter] == 0 {
					ok = false
				}
				entry.Perms |= permissions[letter]
			}
		}
		if !ok || last < 0 || scheme == "" || entry.Perms == 0 {
			return nil, badUse(withFlag(cmd, "--"+flag+" world:anyone:r --"+flag+" auth::cdrwa"),
				"--%s is not of the form SCHEME:ID:PERMISSIONS, with some of the letters cdrwa", flag)
		}
		acl = append(acl, entry)
	}
	return acl, nil
}
