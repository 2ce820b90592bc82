package prospectkit

// AgentsService keeps agents: they search on a schedule and deliver people or companies into a list of their own.
type AgentsService struct{ client *Client }
