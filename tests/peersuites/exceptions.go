package main

// Reasons of rows: features that the embedded server does not have. Its package doc names them, too.
const (
	noReconfiguration = "There is no reconfiguration, and no super user who might ask for it."
	noTLS             = "There is no TLS."
	noReadOnly        = "There is no read-only mode."
)

var kazooExceptions = []exception{
	{reason: noReconfiguration, tests: []string{
		"kazoo.tests.test_client.TestReconfig.test_add_remove_observer",
		"kazoo.tests.test_client.TestReconfig.test_bad_input",
		"kazoo.tests.test_client.TestReconfig.test_no_super_auth",
	}},
	{reason: noTLS, tests: []string{"kazoo.tests.test_client.TestSSLClient.test_create"}},
	{reason: noReadOnly, tests: []string{"kazoo.tests.test_connection.TestReadOnlyMode.test_read_only"}},
}

var goZooKeeperExceptions = []exception{
	{reason: noReconfiguration, tests: []string{"TestIntegration_IncrementalReconfig", "TestIntegration_Reconfig"}},
}

var curatorExceptions = []exception{
	{reason: "The test has the server take connections with a class of its own, inside its process. Here there is none.", tests: []string{
		"org.apache.curator.framework.recipes.leader.TestLeaderSelectorEdges.createProtectedNodeInBackgroundTest()",
		"org.apache.curator.framework.recipes.leader.TestLeaderSelectorEdges.createProtectedNodeInBackgroundTestNoRetry()",
		"org.apache.curator.framework.recipes.leader.TestLeaderSelectorEdges.flappingTest()",
	}},
	{reason: "The test sleeps, then wants one of two latches' events before the other. It fails on real servers, too.", sometimes: true, tests: []string{
		"org.apache.curator.framework.recipes.leader.TestLeaderLatch.testResettingOfLeadershipAfterConcurrentLeadershipChange()",
	}},
}
