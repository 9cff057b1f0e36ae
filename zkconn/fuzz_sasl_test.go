package zkconn

import (
	"bufio"
	"bytes"
	"testing"

	"github.com/stretchr/testify/require"
)

// FuzzSASLReplies makes exchanges with arbitrary bytes for answers: none panics, goes on for ever, or succeeds without the
// two answers that it takes.
func FuzzSASLReplies(f *testing.F) {
	reply := func(code int32, token []byte) []byte {
		return frameOf(append(replyHeader(xidSASL, code), saslToken(token)...))
	}
	f.Add(append(reply(0, []byte("who")), reply(0, nil)...))
	f.Add(append(reply(0, []byte("who")), reply(0, []byte("more"))...))
	f.Add(reply(0, nil))
	f.Add(reply(codeAuthFailed, nil))
	f.Add(reply(codeSASLRequired, nil)[:10])
	f.Add(frameOf(replyHeader(xidEvent, 0)))
	f.Add([]byte{0x7f, 0xff, 0xff, 0xff})
	f.Fuzz(func(t *testing.T, answers []byte) {
		exchange := &oathExchange{oath: &oath{password: "open"}}
		client := &saslClient{mechanism: exchange.oath, exchange: exchange, first: []byte("hello")}
		var sent bytes.Buffer
		err := client.run(&sent, bufio.NewReader(bytes.NewReader(answers)))
		require.Equal(t, err == nil, exchange.Done() && bytes.Contains(answers, []byte("who")))
		require.LessOrEqual(t, sent.Len(), 100)
		if err != nil {
			require.ErrorContains(t, err, "OATH")
		}
	})
}
