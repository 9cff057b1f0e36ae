package conformance

import (
	"fmt"
	"maps"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/turnstile-locks/turnstile/tests/rig"
	"github.com/turnstile-locks/turnstile/zkconn/embedded"
)

// saslUsers are whom the servers of these tests know.
var saslUsers = map[string]string{
	"bob": "bobsecret", "alice": "alicesecret", "super": "supersecret",
	"josé": "contraseña", "日本": "秘密", "quoting": `a"b\c, d=e`,
}

// saslPair starts a real server and an embedded one with SASL.
func saslPair(t *testing.T, required bool) pair {
	rig.Require(t)
	opts := []rig.Option{rig.WithJAAS(rig.DigestJAAS(saslUsers)), rig.WithConfig("maxSessionTimeout", "60000")}
	mine := []embedded.Option{embedded.WithSASL(saslUsers), embedded.WithTick(undisturbed.tick)}
	if required {
		opts = append(opts, rig.WithConfig("sessionRequireClientSASLAuth", "true"))
		mine = append(mine, embedded.WithSASLRequired())
	}
	return pair{reference: rig.StartStandalone(t, opts...), subject: embedded.Run(t, mine...)}
}

// alike has both servers hear the same, and compares what they answer; it gives that.
func (p pair) alike(t *testing.T, all []saying) []string {
	var heard [2][]string
	var errs [2]error
	var both sync.WaitGroup
	for i, s := range []server{p.reference, p.subject} {
		both.Go(func() { heard[i], errs[i] = talk(s.Addr(), all) })
	}
	both.Wait()
	require.NoError(t, errs[0])
	require.NoError(t, errs[1])
	require.Equal(t, heard[0], heard[1])
	return heard[0]
}

// answersToChallenges are second requests of an exchange, each by its oddity.
var answersToChallenges = map[string]saying{
	"right":                    respond("bob", "bobsecret"),
	"wrong password":           respond("bob", "wrong"),
	"unknown user":             respond("eve", "evesecret"),
	"unknown, known password":  respond("eve", "bobsecret"),
	"empty user":               respond("bob", "bobsecret", directive{"username", `""`}),
	"another user's":           respond("bob", "alicesecret"),
	"Latin-1":                  respond("josé", "contraseña"),
	"not Latin-1":              respond("日本", "秘密"),
	"what must be quoted":      respond("quoting", `a"b\c, d=e`),
	"no user":                  respond("bob", "bobsecret", directive{"username", ""}),
	"no realm":                 respond("bob", "bobsecret", directive{"realm", ""}),
	"another realm":            respond("bob", "bobsecret", directive{"realm", `"other"`}),
	"no nonce":                 respond("bob", "bobsecret", directive{"nonce", ""}),
	"another nonce":            respond("bob", "bobsecret", directive{"nonce", `"other"`}),
	"no cnonce":                respond("bob", "bobsecret", directive{"cnonce", ""}),
	"another cnonce":           respond("bob", "bobsecret", directive{"cnonce", `"other"`}),
	"no count":                 respond("bob", "bobsecret", directive{"nc", ""}),
	"count 1":                  respond("bob", "bobsecret", directive{"nc", "1"}),
	"count 2":                  respond("bob", "bobsecret", directive{"nc", "00000002"}),
	"no qop":                   respond("bob", "bobsecret", directive{"qop", ""}),
	"auth-int":                 respond("bob", "bobsecret", directive{"qop", "auth-int"}),
	"auth-conf":                respond("bob", "bobsecret", directive{"qop", "auth-conf"}),
	"another qop":              respond("bob", "bobsecret", directive{"qop", "none"}),
	"quoted qop":               respond("bob", "bobsecret", directive{"qop", `"auth"`}),
	"no charset":               respond("bob", "bobsecret", directive{"charset", ""}),
	"another charset":          respond("bob", "bobsecret", directive{"charset", "iso-8859-1"}),
	"capitals in charset":      respond("bob", "bobsecret", directive{"charset", "UTF-8"}),
	"no response":              respond("bob", "bobsecret", directive{"response", `""`}),
	"short response":           respond("bob", "bobsecret", directive{"response", "00"}),
	"another service":          respond("bob", "bobsecret", directive{"digest-uri", `"kafka/zk-sasl-md5"`}),
	"another host":             respond("bob", "bobsecret", directive{"digest-uri", `"zookeeper/localhost"`}),
	"capitals in digest-uri":   respond("bob", "bobsecret", directive{"digest-uri", `"ZooKeeper/ZK-sasl-md5"`}),
	"any host":                 respond("bob", "bobsecret", directive{"digest-uri", `"zookeeper/*"`}),
	"for somebody else":        respond("bob", "bobsecret", directive{"authzid", `"alice"`}),
	"for nobody else":          respond("bob", "bobsecret", directive{"authzid", `""`}),
	"no number in maxbuf":      respond("bob", "bobsecret", directive{"maxbuf", "many"}),
	"nonce-count 2":            respond("bob", "bobsecret", directive{"nonce-count", "2"}),
	"no number in nonce-count": respond("bob", "bobsecret", directive{"nonce-count", "x"}),
	"no commas":                respond("bob", "bobsecret", directive{"maxbuf", "1 cipher=x"}),
	"nothing at the end":       respond("bob", "bobsecret", directive{"maxbuf", "1,color="}),
	"an empty value":           respond("bob", "bobsecret", directive{"maxbuf", "1,color=,"}),
	"space behind a name":      respond("bob", "bobsecret", directive{"maxbuf", "1,color "}),
	"maxbuf":                   respond("bob", "bobsecret", directive{"maxbuf", "65536"}),
	"something unknown":        respond("bob", "bobsecret", directive{"color", `"blue, or green"`}),
	"unknown twice":            respond("bob", "bobsecret", directive{"color", "a,color=b"}),
	"two users":                respond("bob", "bobsecret", directive{"authzid", `"x",username="bob"`}),
	"space about":              respond("bob", "bobsecret", directive{"maxbuf", " 65536 , \t , CIPHER = x \r\n"}),
	"a comma too many":         respond("bob", "bobsecret", directive{"maxbuf", "1,,"}),
	"garbage behind":           respond("bob", "bobsecret", directive{"maxbuf", "1 2"}),
	"garbage behind quotes":    respond("bob", "bobsecret", directive{"authzid", `"a"b`}),
	"no end of quotes":         respond("bob", "bobsecret", directive{"qop", `"auth`}),
	"a backslash at the end":   respond("bob", "bobsecret", directive{"qop", `"auth\`}),
	"a name without a value":   respond("bob", "bobsecret", directive{"maxbuf", "1,color"}),
	"a value without a name":   respond("bob", "bobsecret", directive{"maxbuf", "1,=2"}),
	"space in a name":          respond("bob", "bobsecret", directive{"maxbuf", "1,a b=2"}),
	"nothing":                  token(""),
	"a comma":                  token(","),
	"bytes":                    token("\x00\xff\xfe\x01"),
	"4096 bytes and more":      respond("bob", "bobsecret", directive{"color", strings.Repeat("x", 4096)}),
}

// Every exchange gets the same answers, and the same identity.
func TestSASLExchanges(t *testing.T) {
	for _, required := range []bool{false, true} {
		t.Run(fmt.Sprintf("required %t", required), func(t *testing.T) {
			servers := saslPair(t, required)
			for _, name := range slices.Sorted(maps.Keys(answersToChallenges)) {
				t.Run(name, func(t *testing.T) {
					t.Log(servers.alike(t, []saying{begin, answersToChallenges[name], other("whoAmI")}))
				})
			}
		})
	}
}

// TestSASLInOtherOrders: other requests come before, between and behind.
func TestSASLInOtherOrders(t *testing.T) {
	right := respond("bob", "bobsecret")
	for _, required := range []bool{false, true} {
		t.Run(fmt.Sprintf("required %t", required), func(t *testing.T) {
			servers := saslPair(t, required)
			for name, all := range map[string][]saying{
				"nothing of it":             {other("exists path=/")},
				"a ping":                    {other("ping")},
				"the end":                   {other("close")},
				"no beginning":              {token("hello"), right, other("whoAmI")},
				"a request before":          {other("whoAmI"), begin, right, other("whoAmI")},
				"a request between":         {begin, other("exists path=/"), right, other("whoAmI")},
				"digest before":             {other("auth scheme=digest auth=u:p"), other("whoAmI"), begin, right, other("whoAmI")},
				"digest behind":             {begin, right, other("auth scheme=digest auth=u:p"), other("whoAmI")},
				"sasl as a credential":      {begin, right, other("auth scheme=sasl auth=bob:bobsecret"), other("whoAmI")},
				"an unknown request":        {other("unknown")},
				"a token too many":          {begin, right, token("")},
				"an answer too many":        {begin, right, right},
				"a second exchange":         {begin, right, begin, respond("alice", "alicesecret"), other("whoAmI")},
				"two beginnings":            {begin, begin},
				"a request after a failure": {begin, respond("bob", "wrong"), other("whoAmI")},
			} {
				t.Run(name, func(t *testing.T) { t.Log(servers.alike(t, all)) })
			}
		})
	}
}

// Access lists of the scheme sasl, and the creator's own.
func TestSASLInAccessLists(t *testing.T) {
	servers := saslPair(t, false)
	bob, alice, superman := respond("bob", "bobsecret"), respond("alice", "alicesecret"), respond("super", "supersecret")
	t.Log(servers.alike(t, []saying{
		begin, bob,
		other("create path=/mine acl=[31:auth:]"), other("getACL path=/mine"),
		other("create path=/hers acl=[31:sasl:alice]"), other("getACL path=/hers"), other("getData path=/hers"),
		other("create path=/both acl=[1:sasl:alice,31:sasl:bob]"), other("getACL path=/both"),
		other("create path=/host acl=[31:sasl:a/b@C]"), other("create path=/bad acl=[31:sasl:a@b@c]"),
		other("create path=/empty acl=[31:sasl:]"), other("create path=/slash acl=[31:sasl:a/b/c]"),
		other("auth scheme=digest auth=u:p"), other("create path=/two acl=[31:auth:]"),
	}))
	t.Log(servers.alike(t, []saying{
		other("getData path=/mine"), other("getACL path=/both"), begin, alice,
		other("getData path=/mine"), other("getACL path=/mine"), other("getData path=/hers"), other("getData path=/both"),
		other("setData path=/both"), other("getACL path=/both"), other("delete path=/hers"),
	}))
	t.Log(servers.alike(t, []saying{
		begin, superman, other("getData path=/mine"), other("getACL path=/mine"), other("delete path=/mine"),
	}))
	for _, required := range []string{"getData path=/mine", "create path=/none acl=[31:auth:]"} {
		servers.alike(t, []saying{other(required)})
	}
}
