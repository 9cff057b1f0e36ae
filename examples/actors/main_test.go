package main

import (
	"os"
	"testing"

	"github.com/turnstile-locks/turnstile/tests/relists"
)

func TestMain(m *testing.M) { os.Exit(relists.Listening{Tests: m}.Run()) }
