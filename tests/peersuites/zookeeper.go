package main

import (
	"context"
	"fmt"
	"maps"
	"strings"
)

// zooKeeperClasses are the classes of ZooKeeper's test jar with tests of a client: they extend
// ClientBase, which starts a standalone server for each test, and look at nothing in that server's
// process except where exceptions.go says so. Left out are tests of a server's parts, of its files,
// of its admin server and of its metrics, and ensembles.
var zooKeeperClasses = strings.Fields(`
	GetAllChildrenNumberTest GetEphemeralsTest RemoveWatchesCmdTest RemoveWatchesTest SaslAuthTest ZKUtilTest ZooKeeperTest
	server.CreateTTLTest
	test.ACLRootTest test.AsyncOpsTest test.AuthTest test.AuthSHA2Test test.AuthSHA3Test test.BufferSizeTest test.CheckTest test.ChrootAsyncTest
	test.ChrootClientTest test.ChrootTest test.ClientHammerTest test.ClientRetryTest test.ClientTest
	test.CreateTest test.DisconnectedWatcherTest test.EnforceQuotaTest test.EnsembleAuthTest
	test.FourLetterWordsTest test.FourLetterWordsWhiteListTest test.GetChildren2Test test.KeyAuthClientTest
	test.MaxCnxnsTest test.MultiAsyncTransactionTest test.MultiOperationTest test.NullDataTest
	test.PersistentRecursiveWatcherTest test.PersistentWatcherACLTest test.PersistentWatcherTest
	test.SaslAuthDesignatedClientTest test.SaslAuthDesignatedServerTest test.SaslAuthFailDesignatedClientTest
	test.SaslAuthFailTest test.SaslAuthMissingClientConfigTest test.SaslAuthRequiredFailNoSASLTest
	test.SaslAuthRequiredFailWrongSASLTest test.SaslAuthRequiredMultiClientTest test.SaslAuthRequiredTest test.SaslSuperUserTest
	test.ServerCnxnTest test.SessionInvalidationTest test.SessionTimeoutTest test.StatTest
	test.SyncCallTest test.UnsupportedAddWatcherTest test.WatcherFuncTest test.WatcherTest test.ZooKeeperQuotaTest
`)

const zooKeeperPackage = "org.apache.zookeeper."

// runZooKeeper runs the client's tests of ZooKeeper itself, each class in a process of its own, because they set
// properties of the process.
func runZooKeeper(ctx context.Context, r *round, only []string) (outcomes, error) {
	suite := junitSuite{profile: "zookeeper-tests-3.9.5", sources: []string{"standin", "zookeeper"}, after: "zookeeper.Redefine"}
	all := outcomes{}
	for _, class := range zooKeeperClasses {
		chosen := []string{"--select-class=" + zooKeeperPackage + class}
		if only != nil {
			if chosen = selectMethods(of(zooKeeperPackage+class, only)); len(chosen) == 0 {
				continue
			}
		}
		ended, err := r.junit(ctx, suite, class, chosen)
		if err != nil {
			return nil, fmt.Errorf("%s: %w", class, err)
		}
		maps.Copy(all, ended)
	}
	return all, nil
}

// of gives the tests of a class.
func of(class string, tests []string) (found []string) {
	for _, test := range tests {
		if strings.HasPrefix(test, class+".") {
			found = append(found, test)
		}
	}
	return found
}
