package prospectkit

// ContactsService finds contacts and reads what happened with them.
type ContactsService struct{ client *Client }
