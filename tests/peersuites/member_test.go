package main

import (
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

func TestReadMember(t *testing.T) {
	folder := t.TempDir()
	config, jaas := filepath.Join(folder, "zoo.cfg"), filepath.Join(folder, "jaas.conf")
	require.NoError(t, os.WriteFile(config, []byte(`
# of an ensemble
tickTime=500
dataDir=/data/2
clientPort=12003
maxSessionTimeout=4000
syncLimit=2
4lw.commands.whitelist=*
server.2=127.0.0.1:12004:12005
server.1=127.0.0.1:12001:12002
`), 0o600))
	require.NoError(t, os.WriteFile(jaas, []byte(`
Server {
    org.apache.zookeeper.server.auth.DigestLoginModule required
    user_super="super_secret"
    user_jaasuser="jaas_password";
};
Another {
    user_other="secret";
};`), 0o600))

	m, err := readMember([]string{"-cp", "a.jar", "-Djava.security.auth.login.config=" + jaas,
		"-Dzookeeper.sessionRequireClientSASLAuth=true", "-Dznode.container.checkIntervalMs=40", "-Djute.maxbuffer=65536", "QuorumPeerMain", config})
	require.NoError(t, err)
	require.Equal(t, member{
		Addr: "127.0.0.1:12003", DataDir: "/data/2", Tick: 500 * time.Millisecond, Most: 4 * time.Second, Sync: 2,
		Peers: []string{"server.1=127.0.0.1:12001:12002", "server.2=127.0.0.1:12004:12005"},
		Users: map[string]string{"super": "super_secret", "jaasuser": "jaas_password"},
		SASL:  true, Frame: 65536, Reap: 40 * time.Millisecond,
	}, m)

	m, err = readMember([]string{"-Djava.security.auth.login.config=" + jaas, "-Dzookeeper.sasl.serverconfig=Another", config})
	require.NoError(t, err)
	require.Equal(t, map[string]string{"other": "secret"}, m.Users)
}

// A configuration that says too little is refused, by the name of the file.
func TestReadMemberRefuses(t *testing.T) {
	_, err := readMember(nil)
	require.ErrorContains(t, err, "no configuration file")
	for content, says := range map[string]string{
		"dataDir=/data\n":               "no clientPort",
		"clientPort=2181\n":             "no dataDir",
		"tickTime=soon\nclientPort=1\n": "tickTime=soon",
	} {
		config := filepath.Join(t.TempDir(), "zoo.cfg")
		require.NoError(t, os.WriteFile(config, []byte(content), 0o600))
		_, err := readMember([]string{config})
		require.ErrorContains(t, err, says)
		require.ErrorContains(t, err, config)
	}
}
