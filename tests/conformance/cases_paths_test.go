package conformance

import "strings"

// pathCases are texts that may stand in a path. Each is created, and then its sequential sister.
var pathCases = []regression{
	{"creating odd paths", oddPaths("s0 create path=%")},
	{"creating odd sequential paths", oddPaths("s0 create flags=2 path=%")},
	{"setting odd paths", oddPaths("s0 setData path=%")},
	{"deleting odd paths", oddPaths("s0 delete path=%")},
	{"checking odd paths", oddPaths("s0 multi { check path=% }")},
	{"reading odd paths", oddPaths("s0 exists path=%\ns0 getChildren2 path=%")},
}

// oddPaths writes an operation for every bad path, on a new session each time, since
// some may end the connection.
func oddPaths(format string) string {
	var b strings.Builder
	for _, p := range badPaths {
		b.WriteString(strings.ReplaceAll(format, "%", p) + "\n")
	}
	return b.String()
}

// aclCases are about who may do what.
var aclCases = []regression{
	{"lists that are valid and lists that are not", everyACL("s0 create path=~/%", "s0 getACL path=~/%")},
	{"the same by who is known", "s0 auth\n" + everyACL("s0 create path=~/%", "s0 getACL path=~/%", "s1 getACL path=~/%", "s0 getData path=~/%")},
	{"lists that are set", "s0 create path=~/a\n" + everyACL("s0 setACL path=~/a", "s0 getACL path=~/a")},
	{"what each permission allows", `
		s0 create path=~/r acl=[1:world:anyone]
		s0 create path=~/w acl=[2:world:anyone]
		s0 create path=~/c acl=[4:world:anyone]
		s0 create path=~/d acl=[8:world:anyone]
		s0 create path=~/a acl=[16:world:anyone]
		s1 getData path=~/r
		s1 setData path=~/r
		s1 create path=~/r/x
		s1 getData path=~/w
		s1 setData path=~/w
		s1 create path=~/c/x
		s1 create path=~/d/x
		s1 delete path=~/c/x
		s1 getChildren path=~/c
		s1 setACL path=~/w
		s1 setACL path=~/a acl=[31:world:anyone]
		s1 create path=~/a/x
		s1 setACL path=~/a acl=[24:world:anyone]
		s1 delete path=~/a/x
		s1 getACL path=~/a
	`},
	{"digest", `
		s0 create path=~/before acl=[31:auth:""]
		s0 auth auth=u:p
		s0 whoAmI
		s0 create path=~/a acl=[31:auth:""]
		s0 create path=~/b acl=[1:auth:ignored,2:world:anyone,4:auth:""]
		s0 getACL path=~/a
		s0 getACL path=~/b
		s1 getACL path=~/a
		s1 getACL path=~/b
		s1 getData path=~/a
		s1 setData path=~/b
		s1 auth auth=u:wrong
		s1 getData path=~/a
		s1 auth auth=u:p
		s1 getData path=~/a
		s1 auth auth=v:q
		s1 whoAmI
		s1 create path=~/c acl=[31:auth:""]
		s1 getACL path=~/c
		s1 reattach
		s1 whoAmI
		s1 getData path=~/a
		s0 setACL path=~/a acl=[1:auth:"",30:world:anyone]
		s2 getACL path=~/a
	`},
	{"a read of the list hides digests from who may not set it", `
		s0 create path=~/a acl=[1:world:anyone,16:digest:a:b]
		s0 create path=~/b acl=[1:world:anyone,16:digest:a:b,2:digest:c:d,4:ip:127.0.0.2]
		s0 getACL path=~/a
		s0 getACL path=~/b
		s0 multiRead { getData path=~/a; getChildren path=~/missing; getChildren path=~ }
	`},
	{"addresses", `
		s0 create path=~/a acl=[31:ip:127.0.0.1]
		s0 create path=~/b acl=[31:ip:127.0.0.0/8]
		s0 create path=~/c acl=[31:ip:127.0.0.2]
		s0 create path=~/d acl=[31:ip:0.0.0.0/0]
		s0 create path=~/e acl=[31:ip:128.0.0.0/1]
		s0 create path=~/f acl=[31:ip:127.0.0.1/32]
		s0 create path=~/g acl=[31:ip:127.1]
		s0 create path=~/h acl=[31:ip:127.0.0.256]
		s0 create path=~/i acl=[31:ip:127.0.0.1/x]
		s0 create path=~/j acl=[31:ip:::1]
		s0 create path=~/k acl=[31:ip:::/0]
		s0 create path=~/l acl=[31:ip:::ffff:7f00:1]
		s0 create path=~/m acl=[31:ip:::ffff:127.0.0.1]
		s0 create path=~/n acl=[31:ip:fe80::1/10]
		s0 create path=~/o acl=[31:ip:fe80::1/129]
		s0 create path=~/p acl=[31:ip:fe80::1/-1]
		s0 create path=~/q acl=[31:ip:1:2:3:4:5:6:7:8]
		s0 create path=~/r acl=[31:ip:1:2:3:4:5:6:7]
		s0 create path=~/s acl=[31:ip:1:2:3:4:5:6:7:8:9]
		s0 create path=~/t acl=[31:ip:1::2:3:4:5:6:7]
		s0 create path=~/u acl=[31:ip:1::2:3:4:5:6:7:8]
		s0 create path=~/v acl=[31:ip:1::2::3]
		s0 create path=~/w acl=[31:ip::]
		s0 create path=~/x acl=[31:ip::::]
		s0 create path=~/y acl=[31:ip:12345::]
		s0 create path=~/z acl=[31:ip:xyz::]
		s0 create path=~/aa acl=[31:ip:1.2.3.4:5]
		s0 create path=~/ab acl=[31:ip:-1::+f]
		s0 create path=~/ac acl=[31:ip:01.2.3.004]
		s0 create path=~/ad acl=[31:ip:127.0.0.1/+8]
		s0 create path=~/ae acl=[31:ip:127.0.0.1/]
		s0 create path=~/af acl=[31:ip:::1/]
		s0 getData path=~/a
		s0 getData path=~/b
		s0 getData path=~/c
		s0 getData path=~/d
		s0 getData path=~/e
		s0 getData path=~/f
		s0 getData path=~/j
		s0 getData path=~/k
		s0 getData path=~/ad
	`},
	{"authentication that fails closes the connection", `
		s0 auth scheme=nonsense
		s0 reattach
		s0 auth scheme=world auth=anyone
		s0 reattach
		s0 auth scheme=ip auth=10.0.0.1
		s0 whoAmI
		s0 auth auth=null
		s0 reattach
		s0 auth auth=""
		s0 auth auth=nocolon
		s0 auth auth=a:b:c
		s0 whoAmI
		s0 create path=~/a acl=[31:auth:""]
		s0 getACL path=~/a
		s0 auth scheme=auth auth=u:p
		s0 reattach
		s0 auth scheme=super auth=u:p
		s0 reattach
		s0 auth scheme=sasl auth=u:p
		s0 reattach
		s0 sasl
	`},
}

// everyACL writes operations for every list, each on a path of its own.
func everyACL(formats ...string) string {
	var b strings.Builder
	for i, acl := range acls {
		for _, f := range formats {
			line := strings.ReplaceAll(f, "%", "n"+string(rune('a'+i/26))+string(rune('a'+i%26)))
			if strings.Contains(f, "create") || strings.Contains(f, "setACL") {
				line += " acl=" + acl
			}
			b.WriteString(line + "\n")
		}
	}
	return b.String()
}
