package sandbox

import (
	"net/http"

	"example.com/prospectkit/internal/op"
)

var _ = serves(map[*op.Op]endpoint{
	op.AccountMe:           {handle: (*call).me},
	op.AccountCredits:      {handle: (*call).credits},
	op.SearchFilterOptions: {handle: (*call).filterOptions},
})

func (c *call) me() response {
	u := c.ws.User
	return reply(http.StatusOK, object{"user": object{"id": u.ID, "email": u.Email, "name": u.Name}})
}

func (c *call) credits() response {
	return reply(http.StatusOK, object{"credits": object{"balance": c.ws.Credits}})
}

func (c *call) filterOptions() response {
	return reply(http.StatusOK, object{"filterOptions": c.ws.filterOptions()})
}
