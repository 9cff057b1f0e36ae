// Command generate makes the Go code of wire.proto. It is run by go generate ./actors/gateway/wire;
// nothing has to be installed for it.
package main

import (
	"context"
	"fmt"
	"os"
)

func main() {
	if len(os.Args) != 3 {
		fmt.Fprintln(os.Stderr, "usage: generate FILE.proto FILE.go")
		os.Exit(2)
	}
	code, err := Generate(context.Background(), os.Args[1])
	if err == nil {
		err = os.WriteFile(os.Args[2], code, 0o644)
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, "generate:", err)
		os.Exit(1)
	}
}
