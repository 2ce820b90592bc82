package sandbox_test

import (
	"example.com/prospectkit/sandbox"
)

// agentGuesses are requests of agents that rest on assumptions.
var agentGuesses = guessesIn([]sandbox.Option{watched(), sandbox.WithRoute("agents.pause", pauseRoute)}, map[string]func(caller) result{
	"agents.filters":  func(c caller) result { return c.do("POST", discovery, finder()) },
	"agents.extra":    func(c caller) result { return c.do("POST", monitors, with(monitor(), object{"x": 1})) },
	"agents.start":    func(c caller) result { return c.do("POST", monitors, with(monitor(), object{"start": true})) },
	"agents.list":     func(c caller) result { return c.get(agents) },
	"agents.get":      func(c caller) result { return c.get(agents + "/" + id(21)) },
	"agents.signal":   func(c caller) result { return c.do("POST", monitors, with(monitor(), object{"prompt": "[rejected]"})) },
	"agents.adjust":   func(c caller) result { return c.do("PATCH", agents+"/"+id(21), object{"prompt": "q"}) },
	"agents.activate": func(c caller) result { return c.do("POST", agents+"/"+id(21)+"/activate", nil) },
	"agents.pause":    func(c caller) result { return c.do("POST", agents+"/"+id(23)+"/pause", nil) },
	"agents.autocomplete": func(c caller) result {
		return c.get(agents+"/autocomplete", "field", "title")
	},
})

// searchGuesses are requests of searches that rest on assumptions.
var searchGuesses = guessesIn([]sandbox.Option{prospects()}, map[string]func(caller) result{
	"credits.default-prices": func(c caller) result { return c.do("POST", search, object{"filters": object{}}) },
	"scroll.refused":         func(c caller) result { return c.do("POST", search, object{"filters": object{}, "scrollToken": "x"}) },
	"search.size.least":      func(c caller) result { return c.do("POST", search, object{"filters": object{}, "size": 0}) },
	"search.filters.none":    func(c caller) result { return c.do("POST", search, object{}) },
	"search.filters.words":   func(c caller) result { return c.do("POST", search, object{"filters": including("x", "y")}) },
	"search.saved.list":      func(c caller) result { return c.get(saved) },
	"search.save-to-list": func(c caller) result {
		return c.do("POST", search+"/save-to-list", object{"filters": object{}, "listId": id(1)})
	},
	"search.companies": func(c caller) result { return c.do("POST", companiesSearch, object{}) },
	"companies.city.names": func(c caller) result {
		return c.do("POST", companiesSearch, object{"filters": object{"headquartersCity": "Paris"}})
	},
	"companies.exclude.match": func(c caller) result {
		return c.do("POST", companiesSearch, object{"excludeCompanyLists": []string{id(2)}})
	},
})

// contactGuesses are requests of contacts and imports that rest on assumptions.
var contactGuesses = guessesIn(busyContact(), map[string]func(caller) result{
	"contacts.activity":       func(c caller) result { return c.get(timelineOf(101)) },
	"contacts.cursor.refused": func(c caller) result { return c.get(timelineOf(101), "cursor", "x") },
	"contacts.known":          func(c caller) result { return c.get(timelineOf(999)) },
	"contacts.resolve":        func(c caller) result { return c.do("POST", resolve, object{"email": "x"}) },
	"imports.create":          func(c caller) result { return upload(c, "file", "x.csv", []byte("a\nb\n")) },
	"imports.form":            func(c caller) result { return c.do("POST", imports, object{"importId": id(1)}) },
	"imports.presign":         func(c caller) result { return c.do("POST", imports+"/presign", nil) },
})

func guessesIn(opts []sandbox.Option, asks map[string]func(caller) result) map[string]guess {
	room := map[string]guess{}
	for rule, ask := range asks {
		room[rule] = guess{opts, ask}
	}
	return room
}
