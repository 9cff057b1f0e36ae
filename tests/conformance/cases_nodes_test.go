package conformance

// nodeCases are about how nodes come and go, and their numbers.
var nodeCases = []regression{
	{"sequence numbers count creates and not children", `
		s0 create path=~/p
		s0 create path=~/p/q flags=2
		s0 create path=~/p/q flags=3
		s0 create path=~/p/x
		s0 delete path=~/p/x
		s0 create path=~/p/q flags=2
		s0 create2 path=~/p/q flags=3
		s0 create path=~/p/ flags=2
		s0 exists path=~/p
		s0 create path=~/p/q0000000007
		s0 create path=~/p/q flags=2
		s0 create path=~/p/q flags=2
	`},
	{"a parent made again counts from nothing", `
		s0 create path=~/p
		s0 create path=~/p/q flags=2
		s0 delete path=~/p/q0000000000
		s0 exists path=~/p
		s0 delete path=~/p
		s0 create2 path=~/p
		s0 create2 path=~/p/q flags=2
	`},
	{"failed writes take a transaction id and reads do not", `
		s0 delete path=~/missing
		s0 getData path=~/missing
		s0 setData path=~/missing
		s0 create path=~
		s0 sync path=~
		s0 exists path=~
		s0 setData path=~ version=5
		s0 setData path=~ version=0
		s0 create path=~/a acl=[]
		s0 create path=relative
		s0 create path=~/a cut=1
		s0 getData path=~ cut=1
		s0 multi { check path=~/missing }
		s0 multi { getData path=~ }
		s0 multi { }
		s0 check path=~/missing
		s0 reconfig
		s0 deleteContainer path=~/missing
		s0 unknown
		s1 exists path=~
	`},
	{"ephemeral nodes", `
		s0 create path=~/e flags=1
		s1 exists path=~/e
		s0 create path=~/e/child
		s0 create path=~/e/child flags=2
		s1 create path=~/e/
		s1 create path=~/e flags=1
		s0 getEphemerals path=/
		s0 getEphemerals path=""
		s0 getEphemerals path=null
		s0 getEphemerals path=" "
		s0 getEphemerals path=~/e
		s0 getEphemerals path=~/other
		s1 getEphemerals path=/
		s1 delete path=~/e
		s0 getEphemerals path=/
	`},
	{"containers and times to live", `
		s0 createContainer path=~/c flags=4
		s0 create path=~/c/child
		s0 delete path=~/c
		s0 delete path=~/c/child
		s0 exists path=~/c
		s0 createContainer path=~/d flags=0
		s0 createContainer path=~/e flags=1
		s0 createContainer path=~/f flags=2
		s0 createContainer path=~/g flags=5
		s0 create path=~/h flags=4
		s0 create2 path=~/i flags=4
		s0 create path=~/j flags=5
		s0 create path=~/k flags=6
		s0 create path=~/l flags=7
		s0 create path=~/m flags=-1
		s0 createTTL path=~/n flags=5 ttl=1000000
		s0 createTTL path=~/o flags=6 ttl=1000000
		s0 createTTL path=~/p flags=5 ttl=0
		s0 createTTL path=~/q flags=5 ttl=-1
		s0 createTTL path=~/r flags=5 ttl=1099511627775
		s0 createTTL path=~/s flags=5 ttl=1099511627776
		s0 createTTL path=~/t flags=0 ttl=0
		s0 createTTL path=~/u flags=0 ttl=1000000
		s0 createTTL path=~/v flags=4 ttl=1000000
		s0 createTTL path=~/n/child flags=5 ttl=1000000
		s0 create path=~/n/ephemeral flags=1
		s0 create path=~/e/child
		s0 getEphemerals path=/
	`},
	{"data null, empty, and too much", `
		s0 create path=~/a
		s0 getData path=~/a
		s0 create path=~/b data=""
		s0 getData path=~/b
		s0 setData path=~/b
		s0 getData path=~/b
		s0 setData path=~/b data=""
		s0 getData path=~/b
		s0 create path=~/c data=x*1048000
		s0 getData path=~/c
		s0 setData path=~/c data=x*1048500
		s1 getData path=~/c
		s0 setData path=~/c data=x*1048576
		s1 exists path=~/c
		s0 reattach
		s0 getData path=~/c
	`},
	{"versions", `
		s0 create path=~/a
		s0 setData path=~/a version=0
		s0 setData path=~/a version=0
		s0 setData path=~/a version=-1
		s0 setData path=~/a version=-2
		s0 setData path=~/a version=2147483647
		s0 setACL path=~/a version=0
		s0 setACL path=~/a version=0
		s0 setACL path=~/a version=1
		s0 setACL path=~/a version=-1
		s0 delete path=~/a version=7
		s0 delete path=~/a version=2
	`},
	{"the shared nodes", `
		s0 getData path=/
		s0 getChildren path=/
		s0 getChildren2 path=/zookeeper
		s0 getData path=/zookeeper
		s0 getData path=/zookeeper/config
		s0 getACL path=/zookeeper/config
		s0 getACL path=/
		s0 getACL path=/zookeeper/quota
		s0 childrenNumber path=/
		s0 childrenNumber path=/zookeeper
		s0 childrenNumber path=~
		s0 delete path=/
		s0 delete path=/zookeeper
		s0 delete path=/zookeeper/quota
		s0 delete path=/zookeeper/config
		s0 create path=/
		s0 create path=/zookeeper
		s0 setData path=/zookeeper version=99
		s0 setData path=/zookeeper/config
		s0 setData path=/
		s0 exists path=/
		s0 getData path=""
		s0 exists path="" watch=true
		s0 getChildren path="" watch=true
		s0 create path=~/x
	`},
	{"a burst is answered in order", `
		s0 burst { create path=~/a; setData path=~/a data=x version=0; getData path=~/a; create path=~/a/q flags=2; create path=~/a/q flags=2; getChildren2 path=~/a; delete path=~/a; delete path=~/a/q0000000000; delete path=~/a/q0000000001; delete path=~/a; exists path=~/a; ping }
		s0 burst { multi { create path=~/b; create path=~/missing/c }; create path=~/b/q flags=2; create path=~/b; multi { create path=~/b/q flags=2; check path=~/b version=3 }; create path=~/b/q flags=2; multi { create path=~/b/q flags=2; check path=~/b version=0 }; create path=~/b/q flags=2 }
	`},
}

// errorCases are every error of every operation, and which comes first where there are several.
var errorCases = []regression{
	{"create", `
		s0 create path=~/r acl=[1:world:anyone]
		s0 create path=~/e flags=1
		s0 create path=~/missing/a
		s0 create path=~/missing/a acl=[]
		s0 create path=~/missing/a flags=9
		s0 create path=~/missing/. 
		s0 create path=~/missing/. acl=[]
		s0 create path=~/r/a
		s0 create path=~/r/.
		s0 create path=~/r/a acl=[]
		s0 create path=~/e/a
		s0 create path=~/e/.
		s0 create path=~/e acl=null
		s0 create path=~/e flags=9
		s0 create path=~/e/a acl=[]
		s0 create path=relative acl=[]
		s0 create path=relative flags=9
		s0 create path=null
		s0 create path=~/e
	`},
	{"delete", `
		s0 create path=~/r
		s0 create path=~/r/a
		s0 create path=~/r/b
		s0 create path=~/r/b/c
		s0 setACL path=~/r acl=[23:world:anyone]
		s0 delete path=~/r/a
		s0 delete path=~/r/missing
		s0 delete path=~/r/a version=9
		s0 delete path=~/r/b
		s0 setACL path=~/r
		s0 delete path=~/r/b version=9
		s0 delete path=~/r/b
		s0 delete path=~/r/missing version=9
		s0 delete path=~/missing/a
		s0 delete path=relative
		s0 delete path=""
		s0 delete path=null
		s0 delete path=~/r/
		s0 delete path="~/r\x00"
	`},
	{"setData and setACL", `
		s0 create path=~/r acl=[1:world:anyone]
		s0 setData path=~/r version=9
		s0 setData path=~/missing version=9
		s0 setData path=relative
		s0 setData path=~/r/
		s0 setData path=null
		s0 setACL path=~/r version=9
		s0 setACL path=~/r acl=[] version=9
		s0 setACL path=~/missing acl=[]
		s0 setACL path=~/missing version=9
		s0 setACL path=relative acl=[]
		s0 setACL path=null
	`},
	{"reads", `
		s0 create path=~/r acl=[30:world:anyone]
		s0 create path=~/admin acl=[16:world:anyone]
		s0 create path=~/none acl=[0:world:anyone]
		s0 getData path=~/r
		s0 getChildren path=~/r
		s0 getChildren2 path=~/r
		s0 getACL path=~/r
		s0 getACL path=~/admin
		s0 getACL path=~/none
		s0 exists path=~/none
		s0 childrenNumber path=~/r
		s0 check path=~/r
		s0 check path=~/r version=9
		s0 check path=~/missing
		s0 check path=relative
		s0 check path=~ version=9
		s0 check path=~
		s0 getData path=~/missing
		s0 getChildren path=~/missing
		s0 getChildren2 path=~/missing
		s0 getACL path=~/missing
		s0 childrenNumber path=~/missing
		s0 exists path=~/missing
		s0 sync path=~/missing
		s0 sync path=relative
		s0 sync path=null
	`},
	{"reads of null and of what is no path", `
		s0 getData path=null
		s0 getChildren path=null
		s0 getChildren2 path=null
		s0 getACL path=null
		s0 childrenNumber path=null
		s0 exists path=null
		s0 exists path="~/\x00"
		s0 getData path="~/\x00"
		s0 exists path=relative
		s0 getData path=relative
		s0 exists path=~/
		s0 exists path=~//
		s0 checkWatches path=null
		s0 removeWatches path=null
		s0 setWatches data=[null]
		s0 setWatches data=null
		s0 setWatches2 data=[~] persistent=null
	`},
}
