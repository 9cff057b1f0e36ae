package conformance

import (
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"

	"github.com/cockroachdb/datadriven"
	"github.com/stretchr/testify/require"

	"github.com/turnstile-locks/turnstile/tests/rig"
	"github.com/turnstile-locks/turnstile/zkconn/embedded"
)

// saslUsers are whom the servers of these tests know.
var saslUsers = map[string]string{
	"bob": "bobsecret", "alice": "alicesecret", "super": "supersecret",
	"josé": "contraseña", "日本": "秘密", "quoting": `a"b\c, d=e`,
}

// withSASL are servers with SASL, which may be required.
func withSASL(required bool) both {
	opts := []rig.Option{rig.WithJAAS(rig.DigestJAAS(saslUsers)), rig.WithConfig("maxSessionTimeout", "60000")}
	mine := []embedded.Option{embedded.WithSASL(saslUsers), embedded.WithTick(undisturbed.tick)}
	if required {
		opts = append(opts, rig.WithConfig("sessionRequireClientSASLAuth", "true"))
		mine = append(mine, embedded.WithSASLRequired())
	}
	return both{
		real:     func(t testing.TB) server { return rig.StartStandalone(t, opts...) },
		embedded: func(t testing.TB) server { return embedded.Run(t, mine...) },
	}
}

// hear has a server hear each talk, and gives what it answers, under the talk's name.
func hear(t *testing.T, s server, talks map[string][]saying) string {
	var out strings.Builder
	for _, name := range slices.Sorted(maps.Keys(talks)) {
		heard, err := talk(s.Addr(), talks[name])
		require.NoError(t, err)
		fmt.Fprintf(&out, "%s\n  %s\n", name, strings.Join(heard, "\n  "))
	}
	return out.String()
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

// TestSASL is about the answers to every exchange, and about the identities that follow from it.
func TestSASL(t *testing.T) {
	withSASL(false).each(t, func(t *testing.T, s server) { recorded(t, "sasl", saslAnswers(s)) })
}

// TestSASLRequired is about the same where everybody has to say who he is.
func TestSASLRequired(t *testing.T) {
	withSASL(true).each(t, func(t *testing.T, s server) { recorded(t, "sasl_required", saslAnswers(s)) })
}

func saslAnswers(s server) func(*testing.T, *datadriven.TestData) string {
	return func(t *testing.T, d *datadriven.TestData) string {
		switch d.Cmd {
		case "exchanges":
			talks := map[string][]saying{}
			for name, answer := range answersToChallenges {
				talks[name] = []saying{begin, answer, other("whoAmI")}
			}
			return hear(t, s, talks)
		case "orders":
			return hear(t, s, saslOrders)
		default:
			return hear(t, s, saslLists)
		}
	}
}

var (
	asBob   = respond("bob", "bobsecret")
	asAlice = respond("alice", "alicesecret")
	asSuper = respond("super", "supersecret")
)

// saslOrders have other requests before, between and behind.
var saslOrders = map[string][]saying{
	"nothing of it":             {other("exists path=/")},
	"a ping":                    {other("ping")},
	"the end":                   {other("close")},
	"no beginning":              {token("hello"), asBob, other("whoAmI")},
	"a request before":          {other("whoAmI"), begin, asBob, other("whoAmI")},
	"a request between":         {begin, other("exists path=/"), asBob, other("whoAmI")},
	"digest before":             {other("auth scheme=digest auth=u:p"), other("whoAmI"), begin, asBob, other("whoAmI")},
	"digest behind":             {begin, asBob, other("auth scheme=digest auth=u:p"), other("whoAmI")},
	"sasl as a credential":      {begin, asBob, other("auth scheme=sasl auth=bob:bobsecret"), other("whoAmI")},
	"an unknown request":        {other("unknown")},
	"a token too many":          {begin, asBob, token("")},
	"an answer too many":        {begin, asBob, asBob},
	"a second exchange":         {begin, asBob, begin, asAlice, other("whoAmI")},
	"two beginnings":            {begin, begin},
	"a request after a failure": {begin, respond("bob", "wrong"), other("whoAmI")},
}

// saslLists are access lists of the scheme sasl, and the creator's own. They are heard in the order of their names.
var saslLists = map[string][]saying{
	"1 bob": {
		begin, asBob,
		other("create path=/mine acl=[31:auth:]"), other("getACL path=/mine"),
		other("create path=/hers acl=[31:sasl:alice]"), other("getACL path=/hers"), other("getData path=/hers"),
		other("create path=/both acl=[1:sasl:alice,31:sasl:bob]"), other("getACL path=/both"),
		other("create path=/host acl=[31:sasl:a/b@C]"), other("create path=/bad acl=[31:sasl:a@b@c]"),
		other("create path=/empty acl=[31:sasl:]"), other("create path=/slash acl=[31:sasl:a/b/c]"),
		other("auth scheme=digest auth=u:p"), other("create path=/two acl=[31:auth:]"),
	},
	"2 alice": {
		other("getData path=/mine"), other("getACL path=/both"), begin, asAlice,
		other("getData path=/mine"), other("getACL path=/mine"), other("getData path=/hers"), other("getData path=/both"),
		other("setData path=/both"), other("getACL path=/both"), other("delete path=/hers"),
	},
	"3 super":          {begin, asSuper, other("getData path=/mine"), other("getACL path=/mine"), other("delete path=/mine")},
	"4 nobody reads":   {other("getData path=/mine")},
	"5 nobody creates": {other("create path=/none acl=[31:auth:]")},
}
