package redisbudget

import (
	"testing"

	"example.com/prospectkit/internal/fleettest"
	"example.com/prospectkit/ratelimit"
)

// openStore opens the store of a process of the fleet, by the socket of its Redis.
func openStore(socket string) (ratelimit.Store, func(), error) {
	redis := connect(socket)
	store, err := New(redis, "fleet")
	return store, func() { _ = redis.Close() }, err
}

func TestFleetUsesTheQuotaAndEarnsNoRefusal(t *testing.T) {
	t.Parallel()
	fleettest.UsesTheQuota(t, fleettest.Store{Address: startRedis(t).socket})
}

// Redis dies and comes back empty.
func TestFleetOutlivesRedis(t *testing.T) {
	t.Parallel()
	redis := startRedis(t)
	fleettest.OutlivesTheStore(t, fleettest.Store{Address: redis.socket, Kill: redis.kill, Start: redis.start})
}
