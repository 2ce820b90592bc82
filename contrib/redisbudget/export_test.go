package redisbudget

// ServeRedis starts a Redis for an example.
func ServeRedis() (address string, stop func()) {
	r, err := newRedis()
	if err != nil {
		panic(err)
	}
	return r.socket, r.remove
}
