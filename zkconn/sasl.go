package zkconn

import "context"

// SASLMechanism makes exchanges.
type SASLMechanism interface {
	Name() string
	Principal() string
	Start(ctx context.Context, server SASLServer) (SASLExchange, error)
}

// SASLServer is the server that an exchange is with.
type SASLServer struct{ Host, Address string }

// SASLExchange is the client's side of one exchange.
type SASLExchange interface {
	Initial() ([]byte, error)
	Step(challenge []byte) ([]byte, error)
	Done() bool
}
