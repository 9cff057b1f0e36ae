package guides_test

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/go-zookeeper/zk"

	"github.com/turnstile-locks/turnstile/locks"
	"github.com/turnstile-locks/turnstile/zkconn"
	"github.com/turnstile-locks/turnstile/zkconn/digestmd5"
	"github.com/turnstile-locks/turnstile/zkconn/embedded"
)

// Lock paths of two users.
func Example_saslShared() {
	shared := locks.WithACL(zkconn.SASLACL(zk.PermAll, "app"), zkconn.SASLACL(zk.PermAll, "batch"))
	fmt.Println(shared != nil)
	// Output: true
}

// Lock paths that are one user's, on servers that let in nobody else.
func Example_sasl() {
	users := map[string]string{"app": "a long random password"}
	server, err := embedded.Start(embedded.WithSASL(users), embedded.WithSASLRequired())
	if err != nil {
		fmt.Println(err)
		return
	}
	defer server.Close()
	ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
	defer cancel()
	for _, password := range []string{"a long random password", "a guess"} {
		mechanism, err := digestmd5.New("app", password)
		if err != nil {
			fmt.Println(err)
			return
		}
		opening, cancel := context.WithTimeout(ctx, 30*time.Second)
		defer cancel()
		client, err := locks.Open(opening, server.Addr(), locks.WithSASL(mechanism), locks.WithACL(zkconn.CreatorACL()...))
		if errors.Is(err, zkconn.ErrAuthFailed) {
			fmt.Println("refused:", mechanism)
			continue
		}
		lease, err := client.Mutex("/nightly").Lock(ctx)
		if err == nil {
			fmt.Println("held:", mechanism)
			err = lease.Unlock(ctx)
		}
		if err = errors.Join(err, client.Close(ctx)); err != nil {
			fmt.Println(err)
		}
	}
	// Output:
	// held: DIGEST-MD5 as "app"
	// refused: DIGEST-MD5 as "app"
}
