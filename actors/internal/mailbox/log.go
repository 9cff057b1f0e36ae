package mailbox

import (
	"log/slog"
	"sync"

	"github.com/asynkron/protoactor-go/actor"
	"github.com/asynkron/protoactor-go/extensions"

	"github.com/turnstile-locks/turnstile/zkconn/told"
)

// systemLog is the logger of an actor system, behind a queue: its handler is the user's, and must
// not hold up an actor.
type systemLog struct {
	told   told.Log
	logger *slog.Logger
}

var (
	systemLogID = extensions.NextExtensionID()
	registering sync.Mutex
)

func (*systemLog) ExtensionID() extensions.ExtensionID { return systemLogID }

// LogOf gives the logger of a system, for actors, and the queue of what they log.
func LogOf(system *actor.ActorSystem) (*slog.Logger, told.Log) {
	registering.Lock()
	defer registering.Unlock()
	log, known := system.Extensions.Get(systemLogID).(*systemLog)
	if !known {
		log = &systemLog{told: told.NewLog()}
		log.logger = log.told.Logger(system.Logger())
		system.Extensions.Register(log)
	}
	return log.logger, log.told
}

// LogPanic logs a panic that an actor recovered, with the stack.
func LogPanic(system *actor.ActorSystem, text string, r any, args ...any) {
	log, _ := LogOf(system)
	told.LogPanic(log, text, r, args...)
}
