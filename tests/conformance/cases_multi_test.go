package conformance

// multiCases are about transactions.
var multiCases = []regression{
	{"parts of one that succeeds", `
		s0 multi { create path=~/a data=x; create2 path=~/a/b; create path=~/a/q flags=2; create2 path=~/a/q flags=3; createContainer path=~/c flags=4; createTTL path=~/t flags=5; createTTL path=~/u flags=6; setData path=~/a data=y version=0; check path=~/a version=1; delete path=~/a/b }
		s0 getChildren2 path=~
		s0 getChildren2 path=~/a
		s0 getEphemerals path=/
	`},
	{"parts of one that fails", `
		s0 create path=~/a
		s0 multi { create path=~/b; setData path=~/a version=7; delete path=~/a }
		s0 multi { create path=~/b; delete path=~/missing; create path=~/c }
		s0 multi { create path=~/b; create path=~/b }
		s0 multi { check path=~/a version=3 }
		s0 multi { create path=~/b; create path=~/b/c; delete path=~/b }
		s0 multi { create path=~/b flags=9 }
		s0 multi { create path=~/b acl=[] }
		s0 multi { create path=. }
		s0 multi { create path=~/b flags=1; create path=~/b/c }
		s0 exists path=~/b
		s0 create path=~/q flags=2
	`},
	{"sequential nodes in one", `
		s0 multi { create path=~/q flags=2; create path=~/q flags=2; delete path=~/q0000000000; create path=~/q flags=2 }
		s0 multi { create path=~/q flags=2; check path=~/missing }
		s0 create path=~/q flags=2
		s0 exists path=~
	`},
	{"the kind of a create is in its flags", `
		s0 multi { create path=~/a flags=4; create2 path=~/b flags=4; createContainer path=~/c flags=0; createContainer path=~/d flags=1 }
		s0 multi { create path=~/e flags=5 }
		s0 multi { create2 path=~/e flags=6 }
		s0 multi { createTTL path=~/f flags=0; createTTL path=~/g flags=1; createTTL path=~/h flags=4; createTTL path=~/i flags=0 ttl=-1 }
		s0 multi { createTTL path=~/j flags=5 ttl=0 }
		s0 multi { createTTL path=~/j flags=5 ttl=-1 }
		s0 multi { createTTL path=~/j flags=5 ttl=1099511627776 }
		s0 multi { createTTL path=~/k flags=9 }
		s0 multi { createTTL path=~/k flags=9 acl=null; create path=~/k acl=[] }
		s0 multi { create path=~/k; create path=~/l flags=9 }
		s0 multi { createContainer path=~/k flags=5 }
		s0 multi { createContainer path=~/k flags=3 }
		s0 multi { createContainer path=~/l flags=2 }
		s0 multi { create path=~/m flags=9 acl=null }
		s0 multi { create path=~/m flags=5 acl=null }
		s0 multi { create path=~/m acl=null }
		s0 multi { check path=~/missing; create2 path=~/m acl=null }
		s0 multi { createTTL path=~/m flags=0 acl=null }
		s0 multi { createTTL path=~/m flags=5 acl=null }
		s0 multi { create path=~/m acl=[] }
		s0 multi { create path=~/d/child }
		s0 multi { createContainer path=~/n flags=1; create path=~/n/child }
		s0 getEphemerals path=/
	`},
	{"what may not be in one", `
		s0 multi { }
		s0 multi { exists path=~ }
		s0 multi { setACL path=~ }
		s0 multi { getData path=~ }
		s0 multi { getChildren path=~; getData path=~ }
		s0 multi { create path=~/a; getData path=~ }
		s0 multi { getData path=~; create path=~/a }
		s0 multi { multi { create path=~/a } }
		s0 multi { create path=~/a; setACL path=~/a }
		s0 multi { create path=null }
		s0 multi { create path=~/a; create path=null }
		s0 multi { deleteContainer path=~/a }
		s0 multi { setData path=null }
		s0 multi { check path=~/missing; delete path=null }
		s0 multi { check path=null; create path=~/a acl=null }
		s0 exists path=~/a
	`},
	{"a fragment of one", `
		s0 multi cut=9
		s0 multi cut=1
		s0 multi pad=4
		s0 multi cut=4 { create path=~/a }
		s0 multi pad=4 { create path=~/b }
		s0 getChildren path=~
	`},
	{"permissions in one", `
		s0 multi { create path=~/a acl=[1:world:anyone]; setData path=~/a }
		s0 multi { create path=~/a acl=[1:world:anyone]; create path=~/a/b }
		s0 multi { create path=~/a acl=[0:world:anyone]; check path=~/a }
		s0 multi { create path=~/a acl=[1:world:anyone]; check path=~/a; delete path=~/a }
	`},
	{"reads", `
		s0 create path=~/a data=x
		s0 create path=~/r acl=[30:world:anyone]
		s0 multiRead { getData path=~/a; getChildren path=~; getData path=~/missing; getChildren path=~/r; getData path=~/r }
		s0 multiRead { }
		s0 multiRead { create path=~/b }
		s0 multiRead { getData path=~/a; create path=~/b }
		s0 multiRead { exists path=~/a }
		s0 multiRead { check path=~/a }
		s0 multiRead { getData path=~/a watch=true; getChildren path=~ watch=true }
		s1 setData path=~/a
		s1 create path=~/c
		s0 multiRead { getData path=null }
		s0 multiRead { getChildren path=relative }
	`},
}
