// Package embedded is a ZooKeeper server inside the process: for trying Turnstile and for testing what is
// built on it, with nothing but Go installed.
package embedded
