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
	"right":                   respond("bob", "bobsecret"),
	"wrong password":          respond("bob", "wrong"),
	"unknown user":            respond("eve", "evesecret"),
	"unknown, known password": respond("eve", "bobsecret"),
	"another user's":          respond("bob", "alicesecret"),
	"Latin-1":                 respond("josé", "contraseña"),
	"not Latin-1":             respond("日本", "秘密"),
	"what must be quoted":     respond("quoting", `a"b\c, d=e`),
	"nothing":                 token(""),
	"a comma":                 token(","),
	"bytes":                   token("\x00\xff\xfe\x01"),
}

// changedAnswers are such requests of bob, each with a directive that is not as it is to be.
var changedAnswers = map[string]directive{
	"empty user":               {"username", `""`},
	"no user":                  {"username", ""},
	"no realm":                 {"realm", ""},
	"another realm":            {"realm", `"other"`},
	"no nonce":                 {"nonce", ""},
	"another nonce":            {"nonce", `"other"`},
	"no cnonce":                {"cnonce", ""},
	"another cnonce":           {"cnonce", `"other"`},
	"no count":                 {"nc", ""},
	"count 1":                  {"nc", "1"},
	"count 2":                  {"nc", "00000002"},
	"no qop":                   {"qop", ""},
	"auth-int":                 {"qop", "auth-int"},
	"auth-conf":                {"qop", "auth-conf"},
	"another qop":              {"qop", "none"},
	"quoted qop":               {"qop", `"auth"`},
	"no charset":               {"charset", ""},
	"another charset":          {"charset", "iso-8859-1"},
	"capitals in charset":      {"charset", "UTF-8"},
	"no response":              {"response", `""`},
	"short response":           {"response", "00"},
	"another service":          {"digest-uri", `"kafka/zk-sasl-md5"`},
	"another host":             {"digest-uri", `"zookeeper/localhost"`},
	"capitals in digest-uri":   {"digest-uri", `"ZooKeeper/ZK-sasl-md5"`},
	"any host":                 {"digest-uri", `"zookeeper/*"`},
	"for somebody else":        {"authzid", `"alice"`},
	"for nobody else":          {"authzid", `""`},
	"no number in maxbuf":      {"maxbuf", "many"},
	"nonce-count 2":            {"nonce-count", "2"},
	"no number in nonce-count": {"nonce-count", "x"},
	"no commas":                {"maxbuf", "1 cipher=x"},
	"nothing at the end":       {"maxbuf", "1,color="},
	"an empty value":           {"maxbuf", "1,color=,"},
	"space behind a name":      {"maxbuf", "1,color "},
	"maxbuf":                   {"maxbuf", "65536"},
	"something unknown":        {"color", `"blue, or green"`},
	"unknown twice":            {"color", "a,color=b"},
	"two users":                {"authzid", `"x",username="bob"`},
	"space about":              {"maxbuf", " 65536 , \t , CIPHER = x \r\n"},
	"a comma too many":         {"maxbuf", "1,,"},
	"garbage behind":           {"maxbuf", "1 2"},
	"garbage behind quotes":    {"authzid", `"a"b`},
	"no end of quotes":         {"qop", `"auth`},
	"a backslash at the end":   {"qop", `"auth\`},
	"a name without a value":   {"maxbuf", "1,color"},
	"a value without a name":   {"maxbuf", "1,=2"},
	"space in a name":          {"maxbuf", "1,a b=2"},
	"4096 bytes and more":      {"color", strings.Repeat("x", 4096)},
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
			for name, change := range changedAnswers {
				talks[name] = []saying{begin, respond("bob", "bobsecret", change), other("whoAmI")}
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
