package sandbox

import (
	"fmt"
	"hash/fnv"
	"maps"
	"math/rand/v2"
	"regexp"
	"slices"
	"strings"
)

// Invented people and companies: what agents deliver and what searches find. Nobody is real: every address ends in .example,
// which is reserved.

type firm struct {
	Name, Industry, Headcount, City, Country string
	Employees                                int
}

type person struct {
	First, Last, Title, Level, Region string
	Employer                          firm
}

// The words that autocomplete offers, and that filters of agents recognise.
var vocabularies = map[string][]string{
	"region": {
		"Germany", "Berlin, Germany", "Munich, Bavaria, Germany", "France", "Paris, Île-de-France, France", "United Kingdom",
		"London, England, United Kingdom", "United States", "Austin, Texas, United States", "Canada", "Toronto, Ontario, Canada",
	},
	"industry": {
		"Biotechnology", "Construction", "Financial Services", "Hospitals and Health Care", "Insurance", "Retail",
		"Renewable Energy Power Generation", "Software Development",
	},
	"title": slices.Sorted(maps.Keys(levelOf)),
}

// headcounts are the documented buckets of employer size, and a number in each.
var headcounts = []firm{
	{Headcount: "1-10", Employees: 7},
	{Headcount: "11-50", Employees: 32},
	{Headcount: "51-200", Employees: 140},
	{Headcount: "201-500", Employees: 310},
	{Headcount: "501-1,000", Employees: 720},
	{Headcount: "1,001-5,000", Employees: 2400},
	{Headcount: "5,001-10,000", Employees: 6800},
	{Headcount: "10,001+", Employees: 25_000},
}

var (
	givenNames  = []string{"Amelie", "Bruno", "Chiara", "Daniel", "Elif", "Farid", "Grace", "Hugo", "Ingrid", "Jonas", "Keiko", "Lucía", "Mbali", "Noor", "Oskar"}
	familyNames = []string{"Adeyemi", "Baker", "Costa", "Dvořák", "Eriksen", "Fischer", "Gupta", "Haddad", "Ito", "Jansen", "Kowalski", "Lefèvre", "Moreau"}
	firmNames   = []string{"Alder", "Borealis", "Cobalt", "Driftwood", "Ember", "Fathom", "Granite", "Harbour", "Indigo", "Juniper", "Kestrel"}
	firmKinds   = []string{"Analytics", "Energy", "Foods", "Health", "Logistics", "Robotics", "Systems"}
	cities      = [][2]string{
		{"Berlin", "Germany"},
		{"Munich", "Germany"},
		{"Paris", "France"},
		{"London", "United Kingdom"},
		{"Austin", "United States"},
		{"Toronto", "Canada"},
	}
	levels = slices.Compact(slices.Sorted(maps.Values(levelOf)))
)

// levelOf has the titles, and the level of each.
var levelOf = map[string]string{
	"Chief Executive Officer": "c_suite", "Chief Technology Officer": "c_suite", "Marketing Director": "director",
	"Account Executive": "entry", "Data Engineer": "entry", "Operations Analyst": "entry",
	"Engineering Manager": "manager", "Head of Sales": "director", "Vice President of Sales": "vp",
}

// invent makes the nth person of a series, the same in every run.
func invent(series string, n int) person {
	h := fnv.New64a()
	_, _ = fmt.Fprint(h, series, n) // a hash takes everything
	r := rand.New(rand.NewPCG(h.Sum64(), 0))
	p := person{
		First: pick(r, givenNames), Last: pick(r, familyNames), Title: pick(r, vocabularies["title"]), Region: pick(r, vocabularies["region"]),
		Employer: inventFirm(r),
	}
	p.Level = levelOf[p.Title]
	return p
}

func inventFirm(r *rand.Rand) firm {
	place, f := pick(r, cities), pick(r, headcounts)
	f.Name, f.Industry = pick(r, firmNames)+" "+pick(r, firmKinds), pick(r, vocabularies["industry"])
	f.City, f.Country = place[0], place[1]
	return f
}

func pick[T any](r *rand.Rand, from []T) T { return from[r.IntN(len(from))] }

func (f firm) domain() string { return slug(f.Name) + ".example" }

func (f firm) row() Row {
	return Row{
		"name": f.Name, "domain": f.domain(), "industry": f.Industry, "socialHeadCount": f.Employees, "country": f.Country,
		"address": Row{"city": f.City, "country": f.Country},
	}
}

// row is a person as a row of a list. The number distinguishes people of the same name.
func (p person) row(n int) Row {
	local := fmt.Sprintf("%s.%s.%d", slug(p.First), slug(p.Last), n)
	parts := strings.Split(p.Region, ", ") // "Berlin, Germany", or just "Germany"
	city, country := "", parts[len(parts)-1]
	if len(parts) > 1 {
		city = parts[0]
	}
	return Row{
		"firstName": p.First, "lastName": p.Last, "jobTitle": p.Title, "level": p.Level, "company": p.Employer.row(),
		"socialUrl": "https://social.example/in/" + local, "email": local + "@" + p.Employer.domain(),
		"address": Row{"city": city, "country": country},
	}
}

var notInAddress = regexp.MustCompile(`[^a-z0-9-]`)

// slug keeps the characters that an address may have.
func slug(s string) string {
	return strings.Trim(notInAddress.ReplaceAllString(strings.ReplaceAll(strings.ToLower(s), " ", "-"), ""), "-")
}

// fit returns the person as one who matches a value, unless the value is unknown.
func (p person) fit(words map[string][]string, value string) (fit person, known bool) {
	size := slices.IndexFunc(headcounts, func(f firm) bool { return f.Headcount == value })
	switch {
	case slices.Contains(words["region"], value):
		p.Region = value
	case slices.Contains(words["title"], value):
		p.Title, p.Level = value, levelOf[value]
	case slices.Contains(words["industry"], value):
		p.Employer.Industry = value
	case slices.Contains(words["employer"], value):
		p.Employer.Name, _, _ = strings.Cut(value, ".") // it may be a domain
	case size >= 0:
		p.Employer.Headcount, p.Employer.Employees = value, headcounts[size].Employees
	case slices.ContainsFunc(cities, func(c [2]string) bool { return c[1] == value }):
		p.Employer.Country = value
	default:
		return p, false
	}
	return p, true
}
