package prospectkit

import (
	"context"

	"example.com/prospectkit/internal/op"
)

// Hubs lists the knowledge hubs: what the company knows about itself, for the texts of its campaigns. The shape is not shown by
// the document.
//
// GET /business/knowledge-hubs, scope campaigns.
func (s *FactsService) Hubs(ctx context.Context, opts ...CallOption) (*Object, error) {
	return do[Object](ctx, s.client, op.HubsList, args{}, opts)
}

// Hub reads one knowledge hub. The shape is not shown by the document, except that its status is processing while the hub is
// built.
//
// Errors: likely: [CodeKnowledgeHubNotFound].
//
// GET /business/knowledge-hubs/{hubId}, scope campaigns.
func (s *FactsService) Hub(ctx context.Context, hubID string, opts ...CallOption) (*Object, error) {
	return do[Object](ctx, s.client, op.HubsGet, args{ids: []string{hubID}}, opts)
}

// HubPages lists the pages of a knowledge hub. The document shows the end of the path only: the rest is assumed, and [WithPath]
// changes it. The answer's shape is not shown.
//
// Errors: likely: [CodeKnowledgeHubNotFound], [CodeKnowledgeHubNotReady], [CodeKnowledgeHubPagesUnavailable] (a hub from before
// there were pages), [CodeKnowledgePageNotFound].
//
// GET /business/knowledge-hubs/{hubId}/pages, scope campaigns.
func (s *FactsService) HubPages(ctx context.Context, hubID string, opts ...CallOption) (*Object, error) {
	return do[Object](ctx, s.client, op.HubsPages, args{ids: []string{hubID}}, opts)
}

// SetDefaultHub makes a knowledge hub the default. Body and response are undocumented: you supply the fields. The sandbox takes
// knowledgeHubId (assumed: rule hubs.set-default). The same call again leaves the same state, but it is sent once all the same; after an unknown outcome look at [FactsService.Hubs].
//
// Errors: documented: [CodeKnowledgeHubOwnerOnly]; likely: [CodeKnowledgeHubNotFound], [CodeKnowledgeHubNotReady].
//
// POST /business/knowledge-hubs/default, scope campaigns.
func (s *FactsService) SetDefaultHub(ctx context.Context, in Fields, opts ...CallOption) (*Object, error) {
	return do[Object](ctx, s.client, op.HubsSetDefault, args{body: in}, opts)
}
