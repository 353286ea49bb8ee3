package region

import (
	"context"

	"github.com/redis/go-redis/v9"
)

type silent struct{}

func (silent) Printf(context.Context, string, ...any) {}

// Silence keeps go-redis, which logs every attempt on a dead node, off standard error.
func Silence() { redis.SetLogger(silent{}) }
