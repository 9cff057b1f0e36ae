package main

import "context"

// runCurator runs the tests of Curator's locks and leaders, which are in its test jar. They start servers, alone and
// three or more together, inside their process.
func runCurator(ctx context.Context, r *round, only []string) (outcomes, error) {
	chosen := []string{
		"--select-package=org.apache.curator.framework.recipes.locks",
		"--select-package=org.apache.curator.framework.recipes.leader",
		"--include-classname=.*",
	}
	if len(only) > 0 {
		chosen = selectMethods(only)
	}
	suite := junitSuite{profile: "curator-tests-5.9.0", sources: []string{"standin", "org/apache/curator/test"}}
	return r.junit(ctx, suite, "curator", chosen)
}
