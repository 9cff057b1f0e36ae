package conformance

// sessionCases are about the beginnings and ends of sessions and connections.
var sessionCases = []regression{
	{"granted timeouts", `
		s3 open timeout=0
		s3 close
		s3 open timeout=-1
		s3 close
		s3 open timeout=29999
		s3 close
		s3 open timeout=30001
		s3 close
		s3 open timeout=60001
		s3 close
		s3 open timeout=2147483647
		s3 close
		s3 open timeout=-2147483648
		s3 reattach timeout=45000
		s3 reattach timeout=1
	`},
	{"the shape of a handshake", `
		s3 open readonly=true
		s3 close
		s3 open readonly=absent
		s3 reattach readonly=absent
		s3 reattach readonly=true
		s3 reattach readonly=absent password=wrong
		s3 reattach protocol=7
		s3 close
		s3 open protocol=-1 password=null
		s3 close
		s3 open password=empty
		s3 close
		s3 open password=short
		s3 close
		s3 open password=wrong
	`},
	{"handshakes that are too short or too long", `
		s3 open cut=1
		s3 close
		s3 open cut=2
		s3 open cut=17
		s3 open cut=20
		s3 open cut=45
		s3 open pad=1
		s3 close
		s3 open pad=100
		s3 reattach cut=10
		s3 exists path=~
		s3 reattach pad=10
		s3 exists path=~
	`},
	{"a new connection ends the old one", `
		s0 create path=~/e flags=1
		s0 reattach
		s0 getEphemerals path=/
		s0 reattach drop=true
		s0 getEphemerals path=/
		s1 exists path=~/e
	`},
	{"a wrong password ends the old connection too", `
		s0 create path=~/e flags=1
		s0 reattach password=wrong
		s0 exists path=~
		s0 reattach
		s0 reattach password=null
		s0 reattach
		s0 reattach password=empty
		s0 reattach
		s0 reattach password=short
		s0 reattach
		s0 exists path=~/e
	`},
	{"a wrong password ends the connection that came after one that was dropped", `
		s0 create path=~/e flags=1
		s0 reattach drop=true
		s0 reattach password=short
		s0 reattach drop=true
		s0 exists path=~/e
	`},
	{"sessions that are not there", `
		s0 close
		s0 reattach
		s0 reattach password=wrong
		s1 reattach id=unknown
		s1 exists path=~
		s0 open
		s0 exists path=~
	`},
	{"a client that has seen the future", `
		s0 reattach zxid=+100000
		s0 exists path=~
		s0 reattach zxid=9223372036854775807
		s0 reattach zxid=-1
		s0 reattach zxid=+3
		s3 open zxid=+100000
		s3 open zxid=+4
		s3 open zxid=+3
		s3 reattach zxid=+100000 password=wrong
		s3 exists path=~
	`},
	{"requests behind the end of a session", `
		s0 create path=~/e flags=1
		s1 exists path=~/e watch=true
		s0 burst { getData path=~; close; getData path=~; exists path=~/e }
		s0 getData path=~
		s0 reattach
	`},
	{"requests of unknown kinds", `
		s0 unknown
		s0 reattach
		s0 unknown code=0
		s0 reattach
		s0 unknown code=-1
		s0 reattach
		s0 unknown code=10
		s0 reattach
		s0 unknown code=-12
		s0 reattach
		s0 unknown code=108
		s0 reattach
		s0 create path=~/a
	`},
	{"requests of rare kinds", `
		s0 reconfig
		s0 reconfig members=x
		s0 deleteContainer path=~
		s0 deleteContainer path=~/missing
		s0 createContainer path=~/c flags=4
		s0 deleteContainer path=~/c
		s0 sasl
		s0 sasl token=abc
		s0 sasl token=null
		s0 whoAmI
		s0 ping
		s0 burst { ping; exists path=~; ping }
	`},
	{"a client's deleteContainer asks for no permission", `
		s0 create path=~/p acl=[1:world:anyone]
		s0 create path=~/c acl=[4:world:anyone]
		s0 create path=~/c/a acl=[0:world:anyone]
		s1 exists path=~/c/a watch=true
		s1 getChildren path=~ watch=true
		s0 deleteContainer path=~/c
		s0 deleteContainer path=~/c/a
		s0 deleteContainer path=~/p
		s0 deleteContainer path=~/c
		s0 create path=~/e flags=1
		s0 deleteContainer path=~/e
		s1 deleteContainer path=~/e
		s0 createTTL path=~/t flags=5
		s0 deleteContainer path=~/t
		s0 createContainer path=~/d flags=1
		s0 deleteContainer path=~/d
		s0 deleteContainer path=/
		s0 deleteContainer path=/zookeeper
		s0 deleteContainer path=/zookeeper/config
		s0 deleteContainer path=relative
		s0 deleteContainer path=null
		s0 deleteContainer path=""
		s0 deleteContainer path=~/missing/x
		s0 deleteContainer path="~/\x00"
		s0 deleteContainer path=~/x/
		s0 deleteContainer path=~ cut=1
		s0 create path=~/last
		s0 deleteContainer path=~/last pad=3
	`},
	{"a check by itself", `
		s0 create path=~/a
		s0 check path=~/a
		s0 reattach
		s0 check path=~/a version=9
		s0 reattach
		s0 check path=~/a cut=1
		s0 reattach
		s0 create path=~/b
	`},
	{"numbers of requests", `
		s0 auth xid=-4
		s0 setWatches xid=-8 data=[~]
		s0 exists path=~ xid=0
		s0 exists path=~ xid=2147483647
		s0 exists path=~ xid=-2147483648
		s0 create path=~/a xid=-3
		s0 burst { exists path=~ xid=7; exists path=~ xid=7; create path=~/b xid=-9; ping xid=5 }
		s0 unknown xid=-3
		s0 auth scheme=nonsense xid=-4
		s0 close xid=-11
	`},
	{"a session closed twice", `
		s0 create path=~/e flags=1
		s0 close
		s0 close
		s0 reattach
		s1 getEphemerals path=/
		s1 exists path=~/e
	`},
}

// frameCases are about bytes that are no request.
var frameCases = []regression{
	{"lengths", `
		s0 frame length=-1
		s0 reattach
		s0 frame length=-2147483648
		s0 reattach
		s0 frame length=1048576
		s0 reattach
		s0 frame length=2147483647
		s0 reattach
		s0 frame length=0
		s0 reattach
		s0 frame length=4 send=4
		s0 reattach
		s0 frame length=7 send=7
		s0 reattach
		s0 frame length=8 send=8
		s0 reattach
		s0 frame length=1048575 send=1048575
		s0 reattach
		s0 exists path=~
	`},
	{"requests that end too early", `
		s0 create path=~/a cut=1
		s0 create path=~/a cut=100
		s0 create2 path=~/a cut=4
		s0 createContainer path=~/a flags=4 cut=1
		s0 createTTL path=~/a flags=5 cut=1
		s0 delete path=~/a cut=1
		s0 exists path=~/a cut=1
		s0 getData path=~/a cut=1
		s0 setData path=~/a cut=1
		s0 getACL path=~/a cut=1
		s0 setACL path=~/a cut=1
		s0 getChildren path=~/a cut=1
		s0 getChildren2 path=~/a cut=1
		s0 sync path=~/a cut=1
		s0 check path=~/a cut=1
		s0 setWatches cut=1
		s0 setWatches2 cut=1
		s0 addWatch path=~/a cut=1
		s0 removeWatches path=~/a cut=1
		s0 checkWatches path=~/a cut=1
		s0 getEphemerals cut=1
		s0 childrenNumber cut=1
		s0 reconfig cut=1
		s0 deleteContainer path=~/a cut=1
		s0 setWatches data=[~] exist=[~,~/missing] cut=5
	`},
	{"requests that end too late", `
		s0 create path=~/a pad=7
		s0 getData path=~/a pad=7
		s0 exists path=~/a pad=7
		s0 setData path=~/a pad=7
		s0 setACL path=~/a pad=7
		s0 getACL path=~/a pad=7
		s0 getChildren2 path=~/a pad=7
		s0 sync path=~/a pad=7
		s0 setWatches pad=7
		s0 addWatch path=~/a pad=7
		s0 delete path=~/a pad=7
		s0 ping pad=7
		s0 whoAmI pad=7
		s0 close pad=7
	`},
	{"a request that ends too early on authentication", `
		s0 auth cut=1
		s1 exists path=~
	`},
}
