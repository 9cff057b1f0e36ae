// Package dashboard tests examples/dashboard as a person meets it: in a browser, headless Chromium, with locks on the
// embedded server. Where Chromium is not installed the tests are skipped; with TURNSTILE_REQUIRE_SERVERS=1 they fail.
// install.sh installs it.
//
// TestScreenshots also writes the pictures of the README, when it is told where to (make screenshots):
//
//	TURNSTILE_SCREENSHOTS=examples/dashboard/screenshots go -C tests/dashboard test -count=1 -run TestScreenshots .
package dashboard
