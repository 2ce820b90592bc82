package prospectkit

// FactsService keeps what the service has learned, and the knowledge hubs it feeds.
type FactsService struct{ client *Client }
