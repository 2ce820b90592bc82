package prospectkit

// CampaignsService reads, prepares and approves outreach campaigns, and their scheduled sends.
type CampaignsService struct{ client *Client }
