package conformance

// watchCases are about which events a session gets, and when.
var watchCases = []regression{
	{"events come before the reply that they belong to", `
		s0 exists path=~/a watch=true
		s0 getChildren path=~ watch=true
		s0 create path=~/a
		s0 getData path=~/a watch=true
		s0 getChildren path=~/a watch=true
		s0 getChildren path=~ watch=true
		s0 setData path=~/a
		s0 getData path=~/a watch=true
		s0 delete path=~/a
		s0 exists path=~/a
	`},
	{"a watch fires once", `
		s0 create path=~/a
		s1 getData path=~/a watch=true
		s1 exists path=~/a watch=true
		s1 getChildren path=~/a watch=true
		s1 getChildren2 path=~/a watch=true
		s0 setACL path=~/a
		s0 create path=~/a/b
		s0 create path=~/a/c
		s0 setData path=~/a
		s0 setData path=~/a
		s0 setData path=~/a/b
	`},
	{"a node's end tells its watchers once each", `
		s0 create path=~/a
		s0 getData path=~/a watch=true
		s0 getChildren path=~/a watch=true
		s1 getData path=~/a watch=true
		s2 getChildren path=~/a watch=true
		s2 getChildren path=~ watch=true
		s0 delete path=~/a
		s0 create path=~/a
	`},
	{"events of a transaction come in the order of its parts", `
		s0 create path=~/a
		s0 create path=~/b
		s1 getData path=~/a watch=true
		s1 getData path=~/b watch=true
		s1 getChildren path=~ watch=true
		s1 exists path=~/c watch=true
		s1 exists path=~/d watch=true
		s0 multi { setData path=~/b; create path=~/d; delete path=~/a; create path=~/c; setData path=~/c }
		s1 getChildren path=~ watch=true
		s0 multi { create path=~/e; check path=~/missing }
	`},
	{"watches that were refused are not set", `
		s0 create path=~/r acl=[30:world:anyone]
		s1 getData path=~/r watch=true
		s1 getChildren path=~/r watch=true
		s1 getData path=~/missing watch=true
		s1 getChildren path=~/missing watch=true
		s0 setData path=~/r
		s0 create path=~/r/x
		s0 create path=~/missing
		s1 exists path=~/other watch=true
		s0 create path=~/other
	`},
	{"events are withheld from who may not read", `
		s0 auth
		s1 exists path=~/a watch=true
		s2 auth
		s2 exists path=~/a watch=true
		s1 getChildren path=~ watch=true
		s0 create path=~/a acl=[31:auth:""]
		s1 exists path=~/a watch=true
		s2 exists path=~/a watch=true
		s0 setData path=~/a
		s0 setACL path=~/a
		s0 setData path=~/a
		s1 exists path=~/a watch=true
		s1 getChildren path=~/a watch=true
		s0 setACL path=~/a acl=[31:auth:""]
		s0 create path=~/a/b
		s0 delete path=~/a/b
		s0 delete path=~/a
	`},
	{"a withheld event uses the watch up", `
		s1 exists path=~/a watch=true
		s0 create path=~/a acl=[30:world:anyone]
		s0 setACL path=~/a acl=[31:world:anyone]
		s0 setData path=~/a
		s1 exists path=~/a watch=true
		s0 setData path=~/a
	`},
	{"a reader learns while it watches", `
		s1 exists path=~/a watch=true
		s1 addWatch path=~ mode=1
		s0 create path=~/a acl=` + digestACL(31, "u:p") + `
		s1 auth
		s0 auth
		s0 setData path=~/a
		s0 create path=~/a/b acl=[30:world:anyone]
		s0 setData path=~/a/b
		s0 delete path=~/a/b
	`},
	{"persistent watches", `
		s1 addWatch path=~/a
		s1 addWatch path=~/missing/x
		s0 create path=~/a
		s0 setData path=~/a
		s0 setData path=~/a
		s0 create path=~/a/b
		s0 setData path=~/a/b
		s0 delete path=~/a/b
		s0 setACL path=~/a
		s0 delete path=~/a
		s0 create path=~/a
	`},
	{"recursive watches", `
		s1 addWatch path=~/a mode=1
		s2 addWatch path=/ mode=1
		s0 create path=~/a
		s0 create path=~/a/b
		s0 create path=~/a/b/c
		s0 setData path=~/a/b/c
		s0 create path=~/ab
		s0 multi { delete path=~/a/b/c; delete path=~/a/b; setData path=~/a; create path=~/a/q flags=2 }
		s0 delete path=~/a/q0000000001
		s0 delete path=~/a/q0000000002
		s0 delete path=~/a
	`},
	{"one kind of watch over another", `
		s1 addWatch path=~ mode=1
		s1 addWatch path=~ mode=0
		s0 create path=~/a
		s1 getData path=~ watch=true
		s0 setData path=~
		s0 setData path=~
		s0 create path=~/b
		s1 addWatch path=~/a mode=0
		s1 getData path=~/a watch=true
		s0 setData path=~/a
		s0 setData path=~/a
		s0 create path=~/a/x
		s0 create path=~/a/y
		s1 addWatch path=~/b mode=1
		s1 getChildren path=~/b watch=true
		s0 create path=~/b/x
		s0 create path=~/b/y
		s0 setData path=~/b
	`},
	{"watches of all kinds on one node stay and fire", `
		s1 create path=~/a
		s1 addWatch path=~/a mode=0
		s1 addWatch path=~/a mode=1
		s1 addWatch path=~/a mode=0
		s1 getData path=~/a watch=true
		s1 exists path=~/a watch=true
		s1 getChildren path=~/a watch=true
		s1 checkWatches path=~/a type=1
		s1 checkWatches path=~/a type=2
		s1 checkWatches path=~/a type=3
		s1 checkWatches path=~/a type=4
		s1 checkWatches path=~/a type=5
		s2 checkWatches path=~/a type=3
		s0 create path=~/a/b
		s0 setData path=~/a
		s1 checkWatches path=~/a type=1
		s1 checkWatches path=~/a type=2
		s0 create path=~/a/c
		s0 setData path=~/a
		s0 setData path=~/a/b
		s1 removeWatches path=~/a type=5
		s0 setData path=~/a/b
		s0 setData path=~/a
		s1 addWatch path=~/a mode=1
		s1 removeWatches path=~/a type=4
		s0 create path=~/a/d
		s0 multi { delete path=~/a/b; delete path=~/a/c; delete path=~/a/d; delete path=~/a }
		s0 create path=~/a
		s1 removeWatches path=~/a type=3
		s1 checkWatches path=~/a type=3
		s0 setData path=~/a
	`},
	{"one kind of watch does not stand for another", `
		s1 addWatch path=~ mode=0
		s1 checkWatches path=~ type=1
		s1 checkWatches path=~ type=2
		s1 checkWatches path=~ type=5
		s1 removeWatches path=~ type=1
		s1 removeWatches path=~ type=2
		s1 removeWatches path=~ type=5
		s0 create path=~/a
		s0 setData path=~
		s1 removeWatches path=~ type=4
		s1 addWatch path=~ mode=1
		s1 checkWatches path=~ type=1
		s1 checkWatches path=~ type=2
		s1 checkWatches path=~ type=4
		s1 checkWatches path=~/a type=5
		s1 removeWatches path=~ type=1
		s1 removeWatches path=~ type=2
		s1 removeWatches path=~ type=4
		s0 create path=~/a/b
		s1 removeWatches path=~ type=5
		s1 getChildren path=~ watch=true
		s1 checkWatches path=~ type=2
		s1 checkWatches path=~ type=4
		s1 removeWatches path=~ type=2
		s1 getData path=~/a watch=true
		s1 removeWatches path=~/a type=1
		s0 multi { setData path=~/a; create path=~/c }
		s1 setWatches2 data=[~] child=[~] persistent=[~] recursive=[~] zxid=+100
		s1 removeWatches path=~ type=2
		s1 removeWatches path=~ type=1
		s0 multi { setData path=~; create path=~/d }
		s1 removeWatches path=~ type=4
		s0 multi { setData path=~; create path=~/e }
		s1 checkWatches path=~ type=6
		s1 removeWatches path=~ type=6
	`},
	{"exists wants to read, and sets no watch where it may not", `
		s0 create path=~/a acl=[30:world:anyone]
		s1 exists path=~/a watch=true
		s1 checkWatches path=~/a type=3
		s0 setData path=~/a
		s0 setACL path=~/a
		s0 setData path=~/a
		s1 exists path=~/a watch=true
		s0 setACL path=~/a acl=[30:world:anyone]
		s1 exists path=~/a
		s0 setData path=~/a
		s1 checkWatches path=~/a type=3
		s0 create path=~/b acl=[14:world:anyone]
		s0 exists path=~/b
		s0 create path=~/b/x
		s0 exists path=~/b/x
		s0 create path=~/admin acl=[16:world:anyone]
		s0 exists path=~/admin
	`},
	{"invalid modes and odd paths", `
		s1 addWatch path=~ mode=2
		s1 addWatch path=~ mode=-1
		s1 addWatch path=relative
		s1 addWatch path=""
		s1 addWatch path=~/ mode=1
		s0 create path=~/a
		s0 setData path=~
	`},
	{"removing and checking", `
		s0 checkWatches path=~ type=3
		s0 checkWatches path=~ type=0
		s0 removeWatches path=~ type=3
		s0 removeWatches path=~ type=4
		s0 getData path=~ watch=true
		s1 checkWatches path=~ type=2
		s1 checkWatches path=~ type=1
		s0 checkWatches path=~ type=1
		s0 removeWatches path=~ type=1
		s0 removeWatches path=~ type=2
		s0 setData path=~
		s0 getChildren path=~ watch=true
		s0 exists path=~/missing watch=true
		s0 checkWatches path=~ type=1
		s0 removeWatches path=~ type=3
		s0 removeWatches path=~/missing type=2
		s0 create path=~/missing
		s0 addWatch path=~
		s0 checkWatches path=~ type=1
		s0 checkWatches path=~/missing type=1
		s0 removeWatches path=~ type=1
		s0 setData path=~
		s0 create path=~/x
		s0 removeWatches path=~ type=3
		s0 addWatch path=~ mode=1
		s0 checkWatches path=~/missing type=3
		s0 removeWatches path=~/missing type=3
		s0 removeWatches path=~ type=2
		s0 setData path=~
		s0 create path=~/x/y
		s0 checkWatches path=relative
		s0 removeWatches path=relative
	`},
	{"watches set again tell what was missed", `
		s0 create path=~/same
		s0 create path=~/changed
		s0 create path=~/parent
		s0 create path=~/gone
		s0 setData path=~/changed
		s0 create path=~/parent/x
		s0 delete path=~/gone
		s1 setWatches zxid=+6 data=[~/same,~/changed,~/gone,~/parent] exist=[~/same,~/missing,~/gone] child=[~/same,~/parent,~/gone,~]
		s0 setData path=~/same
		s0 create path=~/missing
		s0 create path=~/gone
		s0 create path=~/same/x
		s0 create path=~/parent/y
		s0 setData path=~/parent
		s1 setWatches zxid=0 data=[~/same] child=[~/same]
		s1 setWatches zxid=9223372036854775807 data=[~/same] child=[~/same]
		s0 multi { setData path=~/same; create path=~/same/y }
		s1 setWatches zxid=-1 exist=[~/same]
	`},
	{"and do not ask who may read", `
		s0 create path=~/r acl=[30:world:anyone]
		s1 setWatches zxid=0 data=[~/r] exist=[~/r] child=[~/r]
		s1 setWatches zxid=+100 data=[~/r] child=[~/r]
		s0 setData path=~/r
		s0 setACL path=~/r
		s0 setData path=~/r
		s0 create path=~/r/x
	`},
	{"the same with persistent ones", `
		s1 setWatches2 zxid=+1 data=[~,~/a] exist=[~/b] child=[~] persistent=[~/a,~/p] recursive=[~/r,~]
		s0 create path=~/a
		s0 create path=~/b
		s0 create path=~/p
		s0 create path=~/r
		s0 create path=~/r/x
		s0 setData path=~/p
		s0 setData path=~
		s1 removeWatches path=~ type=3
		s0 create path=~/c
	`},
	{"all of a session's nodes go in one transaction", `
		s0 create path=~/p
		s0 create path=~/p/q flags=3
		s0 create path=~/p/q flags=3
		s0 create path=~/e flags=1
		s1 getChildren path=~ watch=true
		s1 getChildren path=~/p watch=true
		s1 exists path=~/p/q0000000000 watch=true
		s1 exists path=~/p/q0000000001 watch=true
		s0 exists path=~/e watch=true
		s0 getChildren path=~ watch=true
		s0 close
		s1 exists path=~
		s1 exists path=~/p
	`},
	{"a connection's watches go with it", `
		s0 getData path=~ watch=true
		s0 addWatch path=~ mode=1
		s0 reattach
		s1 setData path=~
		s0 checkWatches path=~
		s0 setWatches zxid=+3 data=[~]
	`},
}
