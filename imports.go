package prospectkit

// ImportsService brings files of contacts or companies into the service.
type ImportsService struct{ client *Client }
