package queue_test

import (
	"encoding/json"
	"math/rand/v2"
	"reflect"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/turnstile-locks/turnstile/actors/queue"
)

// texts has texts that JSON has rules for, and others.
var texts = []string{"", "host-7", "$1a/nonhost/~+", `quo"ted`, `back\slash`, "<a>&b", "tab\t", "line\n", "\x00", "\x7f", "é", "\u2028", "\xff\xfe", "日本"}

// TestEncodeIsJSON: every field is written as encoding/json writes it, for all contents.
func TestEncodeIsJSON(t *testing.T) {
	random := rand.New(rand.NewPCG(1, 2))
	for range 2000 {
		var o queue.Owner
		fields := reflect.ValueOf(&o).Elem()
		for i := range fields.NumField() {
			switch field := fields.Field(i).Addr().Interface().(type) {
			case *string:
				*field = texts[random.IntN(len(texts))]
			case *int:
				*field = random.IntN(3) * random.IntN(1<<31)
			case *int64:
				*field = random.Int64N(3) * random.Int64N(1<<60)
			case *bool:
				*field = random.IntN(2) == 0
			case *time.Time:
				*field = time.Unix(random.Int64N(1<<32), random.Int64N(3)*random.Int64N(1e9)).UTC()
			default:
				t.Fatalf("a field that this test does not know: %s", fields.Type().Field(i).Name)
			}
		}
		want, err := json.Marshal(o)
		require.NoError(t, err)
		require.Equal(t, string(want), string(o.Encode()))
	}
}
