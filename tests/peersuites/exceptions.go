package main

// What the embedded server does not have, by the words of its package doc.
const noReconfiguration = "There is no reconfiguration, and no super user who might ask for it."

var kazooExceptions = []exception{}

var goZooKeeperExceptions = []exception{
	{noReconfiguration, []string{"TestIntegration_IncrementalReconfig", "TestIntegration_Reconfig"}},
}

var curatorExceptions = []exception{}

var zooKeeperExceptions = []exception{}
