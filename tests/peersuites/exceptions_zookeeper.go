package main

import "slices"

// Further reasons: features that ZooKeeper's tests want, and that the embedded server does not have.
const (
	noSuperUser = "There is no super user."
	noScheme    = "There are no schemes of authentication but world, ip, digest and sasl."
	noQuotas    = "There are no quotas."
	noAnyUser   = "There is no zookeeper.letAnySaslUserDoX, by which every user of SASL may do what one may."
	noPatience  = "How long a connection may be without a session is not a setting."
	noWords     = "Four-letter words beyond ruok, srvr, stat, mntr, envi and isro are refused, and which are allowed is not a setting."
	noOwnTTL    = "Nodes with a time to live cannot be switched off."
	racingEvent = "The test's watcher takes the event of SASL for the loss of a connection, where it comes right behind the connection's."
	inProcess   = "The test looks at the server inside its own process, or changes it there. Here there is none."
)

var zooKeeperExceptions = []exception{
	{reason: noSuperUser, tests: slices.Concat(
		testsOf("test.AuthTest", "testSuper()", "testSuperACL()", "testOrdinaryACL()"),
		testsOf("test.AuthSHA2Test", "testSuper()", "testSuperACL()", "testOrdinaryACL()"),
		testsOf("test.AuthSHA3Test", "testSuper()", "testSuperACL()", "testOrdinaryACL()"),
		testsOf("test.SaslSuperUserTest", "testOtherSuperIsSuper()", "testSuperIsSuper()"),
	)},
	{reason: noScheme, tests: slices.Concat(
		testsOf("test.EnsembleAuthTest", "emptyAuth()", "failAuth()", "passAuth()", "passAuthCSV()"),
		testsOf("test.KeyAuthClientTest", "testAuth()"),
	)},
	{reason: noQuotas, tests: testsOf("test.ZooKeeperQuotaTest", "testDeleteBytesQuota()", "testDeleteCountQuota()", "testListQuota()",
		"testMultiCreateThenSetDataShouldFail()", "testQuota()", "testSetQuota()", "testSetQuotaWhenCreateNodeExceedBytesQuota()",
		"testSetQuotaWhenExceedBothBytesAndCountHardQuota()", "testSetQuotaWhenExceedBytesHardQuota()",
		"testSetQuotaWhenExceedBytesHardQuotaExtend()", "testSetQuotaWhenExceedCountHardQuota()",
		"testSetQuotaWhenExceedCountHardQuotaExtend()", "testSetQuotaWhenSetChildDataExceedBytesQuota()",
		"testSetQuotaWhenSetQuotaLessThanExistBytes()", "testSetQuotaWhenSetQuotaLessThanExistCount()")},
	{reason: noAnyUser, tests: testsOf("test.SaslAuthDesignatedClientTest", "testReadAccessUser()")},
	{reason: noPatience, tests: testsOf("test.ServerCnxnTest", "testServerCnxnExpiry()")},
	{reason: noWords, tests: slices.Concat(
		testsOf("test.FourLetterWordsTest", "testFourLetterWords()", "testSetTraceMask()", "testValidateConsOutput()"),
		testsOf("test.FourLetterWordsWhiteListTest", "testFourLetterWordsAllDisabledByDefault()",
			"testFourLetterWordsEnableAllCommandsThroughAsterisk()", "testFourLetterWordsEnableAllCommandsThroughExplicitList()",
			"testFourLetterWordsEnableSomeCommands()", "testFourLetterWordsInvalidConfiguration()"),
	)},
	{reason: noOwnTTL, tests: testsOf("server.CreateTTLTest", "testDisabled()")},
	{reason: inProcess, tests: slices.Concat(
		testsOf("RemoveWatchesTest",
			"testRemoveAllChildWatchesOnAPath(boolean)[1]", "testRemoveAllChildWatchesOnAPath(boolean)[2]",
			"testRemoveAllDataWatchesOnAPath(boolean)[1]", "testRemoveAllDataWatchesOnAPath(boolean)[2]",
			"testRemoveAllPersistentRecursiveWatchesOnAPath(boolean)[1]", "testRemoveAllPersistentRecursiveWatchesOnAPath(boolean)[2]",
			"testRemoveAllPersistentWatchesOnAPath(boolean)[1]", "testRemoveAllPersistentWatchesOnAPath(boolean)[2]",
			"testRemoveAllPersistentWatchesOnAPathPartially(boolean)[1]", "testRemoveAllPersistentWatchesOnAPathPartially(boolean)[2]",
			"testRemoveAllWatchesOnAPath(boolean)[1]", "testRemoveAllWatchesOnAPath(boolean)[2]",
			"testRemovePersistentWatchesOnAPathPartially(boolean)[1]", "testRemovePersistentWatchesOnAPathPartially(boolean)[2]"),
		testsOf("server.CreateTTLTest", "testCreate()", "testCreateAsync()", "testCreateSequential()", "testModifying()", "testMulti()"),
		testsOf("test.BufferSizeTest", "testCreatesReqs()"),
		testsOf("test.ChrootClientTest", "testPathValidation()"),
		testsOf("test.ClientTest", "testPathValidation()"),
		testsOf("test.SaslAuthDesignatedServerTest", "testAuth()"),
		testsOf("test.UnsupportedAddWatcherTest", "testBehavior()"),
		testsOf("test.WatcherTest", "testWatcherCount()"),
	)},
	{reason: racingEvent, sometimes: true,
		tests: testsOf("SaslAuthTest", "testThreadsShutdownOnAuthFailed()", "testZKOperationsAfterClientSaslAuthFailure()")},
}

// testsOf names tests of a class of ZooKeeper.
func testsOf(class string, names ...string) (tests []string) {
	for _, name := range names {
		tests = append(tests, zooKeeperPackage+class+"."+name)
	}
	return tests
}
