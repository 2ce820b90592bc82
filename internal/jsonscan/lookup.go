package jsonscan

// Lookup finds the value at a path of keys inside an object. Of duplicate keys the last one counts.
func Lookup(data []byte, path ...string) (value []byte, ok bool) {
	value = data
	for _, want := range path {
		var found []byte
		c := New(value)
		if c.Object() {
			for key, more := c.Member(); more; key, more = c.Member() {
				if v := c.Value(); string(key) == want {
					found = v
				}
			}
		}
		if found == nil || c.Err() != nil {
			return nil, false
		}
		value = found
	}
	return value, value != nil
}

// Valid checks one whole JSON text.
func Valid(data []byte) error {
	c := New(data)
	c.Skip()
	return c.End()
}
