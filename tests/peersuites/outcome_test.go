package main

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// A test that has begun and never ends has failed.
func TestFromGo(t *testing.T) {
	all, err := fromGo(strings.NewReader(`{"Action":"start","Package":"zk"}
{"Action":"run","Package":"zk","Test":"TestLock"}
{"Action":"output","Package":"zk","Test":"TestLock","Output":"=== RUN TestLock\n"}
{"Action":"pass","Package":"zk","Test":"TestLock"}
{"Action":"run","Package":"zk","Test":"TestWatch"}
{"Action":"fail","Package":"zk","Test":"TestWatch/child"}
{"Action":"skip","Package":"zk","Test":"TestTTL"}
{"Action":"fail","Package":"zk"}
`))
	require.NoError(t, err)
	require.Equal(t, outcomes{"TestLock": passed, "TestWatch": failed, "TestWatch/child": failed, "TestTTL": skipped}, all)
	require.Equal(t, 2, all.count(failed))

	_, err = fromGo(strings.NewReader("panic: no JSON"))
	require.ErrorContains(t, err, "panic: no JSON")
}

// Reports of pytest and of JUnit's console differ in what is around the tests.
func TestFromJUnit(t *testing.T) {
	const cases = `
		<testcase classname="tests.Lock" name="test_passes" time="1"/>
		<testcase classname="tests.Lock" name="test_fails"><failure message="no">trace</failure></testcase>
		<testcase classname="tests.Lock" name="test_ends"><error message="no"/></testcase>
		<testcase classname="tests.Lock" name="test_is_skipped"><skipped/></testcase>
		<testcase classname="tests.Lock" name="test_teardown_fails"><error/></testcase>
		<testcase classname="tests.Lock" name="test_teardown_fails"/>`
	want := outcomes{"tests.Lock.test_passes": passed, "tests.Lock.test_fails": failed, "tests.Lock.test_ends": failed,
		"tests.Lock.test_is_skipped": skipped, "tests.Lock.test_teardown_fails": failed}
	for _, report := range []string{
		"<testsuites><testsuite>" + cases + "</testsuite></testsuites>",
		"<testsuite><properties/>" + cases + "<system-out>x</system-out></testsuite>",
	} {
		path := filepath.Join(t.TempDir(), "report.xml")
		require.NoError(t, os.WriteFile(path, []byte(report), 0o600))
		all, err := fromJUnit(path)
		require.NoError(t, err)
		require.Equal(t, want, all)
	}
}

// A test is run again by the name that its suite's program wants.
func TestNamesForRunningAgain(t *testing.T) {
	require.Equal(t, "kazoo.tests.test_lock::KazooLockTests::test_lock", pytestName("kazoo.tests.test_lock.KazooLockTests.test_lock"))
	require.Equal(t, "kazoo.tests.test_hosts::test_ipv4", pytestName("kazoo.tests.test_hosts.test_ipv4"))
	require.Equal(t, "^(TestA|TestB)$", goTests([]string{"TestB/c", "TestA", "TestB/d"}))
	require.Equal(t, []string{"--select-method=a.b.TestLock#testOne"}, selectMethods([]string{"a.b.TestLock.testOne()", "a.b.TestLock.testOne()"}))
}
