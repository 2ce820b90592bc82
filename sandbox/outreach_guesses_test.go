package sandbox_test

// outreachGuesses are requests of campaigns and hubs that rest on assumptions.
var outreachGuesses = guessesOf(map[string]func(caller) result{
	"campaigns.list":           func(c caller) result { return c.get(campaigns) },
	"campaigns.create":         func(c caller) result { return c.do("POST", campaigns, object{"name": "x"}) },
	"campaigns.channels.names": func(c caller) result { return c.do("POST", campaigns, object{"name": "x"}) },
	"campaigns.references": func(c caller) result {
		return c.do("POST", campaigns, object{"name": "x", "knowledgeHubId": ready})
	},
	"campaigns.adjust": func(c caller) result { return c.do("PATCH", campaignPath(drafted), object{"name": "x"}) },
	"campaigns.empty": func(c caller) result {
		return c.do("PATCH", campaignPath(drafted), object{"listIds": []string{nobody}})
	},
	"campaigns.reach.fields": func(c caller) result {
		return c.do("PATCH", campaignPath(drafted), object{"listIds": []string{linked}})
	},
	"steps.list": func(c caller) result { return c.get(campaignPath(drafted, "steps")) },
	"steps.sent": func(c caller) result {
		return c.do("PATCH", campaignPath(drafted), object{"steps": []object{{"type": "email"}}})
	},
	"steps.types": func(c caller) result {
		return c.do("PATCH", campaignPath(drafted), object{"steps": []object{{"type": "social_message"}}})
	},
	"steps.preview.shape": func(c caller) result {
		return c.do("POST", campaignPath(drafted, "steps", id(51), "preview"), nil)
	},
	"approve.steps":    func(c caller) result { return approvalOf(c, bare) },
	"approve.channels": func(c caller) result { return approvalOf(c, bare) },
	"approve.lists":    func(c caller) result { return approvalOf(c, lost) },
	"sends.list":       func(c caller) result { return c.get(campaignPath(active, "scheduled-sends")) },
	"sends.edit.shape": func(c caller) result {
		return c.do("PATCH", "/business/scheduled-sends/"+id(60), object{"subject": "x"})
	},
	"hubs.list":  func(c caller) result { return c.get(hubs) },
	"hubs.ready": func(c caller) result { return c.get(hubs + "/" + ready) },
	"hubs.pages": func(c caller) result { return c.get(hubs + "/" + ready + "/pages") },
	"hubs.set-default": func(c caller) result {
		return c.do("POST", hubs+"/default", object{"knowledgeHubId": ancient})
	},
	"hubs.processing": func(c caller) result { return c.get(hubs + "/" + building + "/pages") },
})

// guessesOf puts guesses to the sandbox of outreachState.
func guessesOf(asks map[string]func(caller) result) map[string]guess {
	return guessesIn(outreachOptions(), asks)
}
