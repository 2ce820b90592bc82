package benchmarks

import (
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"strconv"
	"strings"
	"time"
)

// What the service sends. The names of a row's fields are those of the sandbox: the service's document shows none of them, so
// they stand for a shape, not for the service.

// jsonOf fills the verbs of a format with values as JSON.
func jsonOf(format string, values ...any) json.RawMessage {
	for i, v := range values {
		text, err := json.Marshal(v)
		if err != nil {
			panic(err) // of constants
		}
		values[i] = string(text)
	}
	return fmt.Appendf(nil, format, values...)
}

func pick[T any](r *rand.Rand, values ...T) T { return values[r.IntN(len(values))] }

// seldom is the value in one of so many cases, and null in the others.
func seldom(r *rand.Rand, every int, value string) any {
	if r.IntN(every) > 0 {
		return nil
	}
	return value
}

// decimal is a number below a bound, in steps of a fraction.
func decimal(r *rand.Rand, below, steps float64) float64 {
	return float64(r.IntN(int(below*steps))) / steps
}

func moment(r *rand.Rand) string {
	return time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC).Add(time.Duration(r.Int64N(int64(300 * 24 * time.Hour)))).Format("2006-01-02T15:04:05.000Z")
}

// beginRow is what all kinds of rows have first.
func beginRow(r *rand.Rand, i int) (begin, handle string) {
	first := pick(r, "Ada", "Bruno", "Chidi", "Dagmar", "Elif", "Farid", "Grace", "Hiro", "Inês", "Jürgen", "Katarzyna", "Luca", "Zoë")
	last := pick(r, "Albrecht", "Brown", "Castillo", "Dubois", "Eriksson", "Fernández", "Grünwald", "Haddad", "Ito", "Jankowski", "O'Neill")
	title := pick(r, "Head of Procurement", "VP R&D", "Chief Technology Officer", "Sales Manager", `Director "New Markets"`, "Account Executive", "Data Engineer")
	handle = fmt.Sprintf("%s.%d", strings.ToLower(first), 10_000+i)
	return string(jsonOf(`"id":%v,"firstName":%v,"lastName":%v,"jobTitle":%v,"email":%v,`, noID, first, last, title, handle+"@company.example")), handle
}

func company(r *rand.Rand) string {
	return pick(r, "Northwind Logistics", "Acme Tooling GmbH", "Blue Heron Foods", "Müller & Söhne", "Contoso Energy", "Fabrikam Robotics")
}

func phone(r *rand.Rand) any { return seldom(r, 3, fmt.Sprintf("+49 30 %07d", r.IntN(1e7))) }

// newContact has about 750 bytes: the 20 fields of contact, and others.
func newContact(r *rand.Rand, i int) json.RawMessage {
	begin, handle := beginRow(r, i)
	return jsonOf(`{`+begin+`"department":%v,"level":%v,"enrichedEmail":%v,"emailValidity":%v,"enrichedPhone":%v,"socialUrl":%v,"companyName":%v,`+
		`"industryName":%v,"headcount":%v,"revenue":%v,"campaignEngagement":%v,"icpMatch":%v,"createdAt":%v,"updatedAt":%v,"phone":%v,`+
		`"address":{"city":%v,"country":%v},"timezone":%v,"language":%v,"customColumns":{"65f0c1d2e3a4b5c6d7e8f901":%v,"65f0c1d2e3a4b5c6d7e8f902":%v}}`,
		pick(r, "sales", "engineering", "purchasing"), pick(r, "c_level", "director", "manager"), pick(r, "found", "not_found"),
		pick(r, "valid", "catch_all", "risky"), pick(r, "found", "not_enriched"), "https://social.example/in/"+handle, company(r),
		pick(r, "Logistics", "Food & Beverages", "Robotics"), r.IntN(9000), decimal(r, 1e7, 100), pick(r, "none", "opened", "replied"),
		pick(r, true, false), moment(r), moment(r), phone(r), pick(r, "Berlin", "Austin", "São Paulo"), pick(r, "Germany", "United States", "Brazil"),
		pick(r, "Europe/Berlin", "America/Chicago"), pick(r, "de", "en", "pt"), pick(r, "Gold", "Silver", "Bronze"), pick(r, true, false))
}

// newRich has 30 fields in about 1,400 bytes, of all shapes that JSON has.
func newRich(r *rand.Rand, i int) json.RawMessage {
	begin, _ := beginRow(r, i)
	return jsonOf(`{`+begin+`"emailStatus":%v,"phone":%v,"level":%v,"address":{"street":%v,"city":%v,"postalCode":%v,"country":%v,"position":[%v,%v]},`+
		`"company":{"id":"65f0c1d2e3a4b5c6d7e8f9cc","name":%v,"domain":"company.example","industry":%v,"headcount":%v,"revenue":%v},"tags":%v,"events":%v,`+
		`"scores":{"fit":%v,"intent":%v,"recent":%v},"labels":{"region":%v,"source":%v,"tier":%v},"customColumns":{"65f0c1d2e3a4b5c6d7e8f901":%v,`+
		`"65f0c1d2e3a4b5c6d7e8f902":%v,"65f0c1d2e3a4b5c6d7e8f903":%v,"65f0c1d2e3a4b5c6d7e8f904":%v,"65f0c1d2e3a4b5c6d7e8f905":[%v,%v]},`+
		`"owner":%v,"source":%v,"timezone":%v,"language":%v,"visits":%v,"priority":%v,"rating":%v,"quarters":%v,"accountNumber":%v,`+
		`"icpMatch":%v,"doNotContact":%v,"createdAt":%v,"updatedAt":%v,"lastContactedAt":%v,"nextTaskAt":%v}`,
		pick(r, "valid", "catch_all", "risky"), phone(r), pick(r, "c_level", "director", "manager"),
		fmt.Sprintf("%d %s", 1+r.IntN(200), pick(r, "Main Street", "Kantstraße", "Rua Augusta")), pick(r, "Berlin", "Austin", "São Paulo"),
		fmt.Sprintf("%05d", r.IntN(99999)), pick(r, "Germany", "United States", "Brazil"), decimal(r, 90, 1e5), decimal(r, 180, 1e5),
		company(r), pick(r, "Logistics", "Food & Beverages", "Robotics"), 1+r.IntN(9000), decimal(r, 1e7, 100),
		[]string{"buyer", "newsletter", "trade fair", "partner"}[:r.IntN(5)], []json.RawMessage{newEvent(r), newEvent(r), newEvent(r)}[:1+r.IntN(3)],
		decimal(r, 1, 100), decimal(r, 1, 100), decimal(r, 1, 100), pick(r, "EMEA", "Americas"), pick(r, "import", "search"), pick(r, "Gold", "Silver", "Bronze"),
		pick(r, "Gold", "Silver", "Bronze"), pick(r, true, false), r.IntN(1e6), seldom(r, 2, moment(r)), pick(r, "north", "south"), pick(r, "east", "west"),
		pick(r, "robin@workspace.example", "kim@workspace.example"), pick(r, "import", "search", "api"), pick(r, "Europe/Berlin", "America/Chicago"),
		pick(r, "de", "en", "pt"), r.Int64N(1e12), r.IntN(1000), decimal(r, 5, 2), []int{r.IntN(99), r.IntN(999), -r.IntN(99), r.IntN(9999)},
		json.Number(fmt.Sprintf("1%017d", r.Int64N(1e17))), pick(r, true, false), r.IntN(5) == 0, moment(r), moment(r), seldom(r, 2, moment(r)), seldom(r, 4, moment(r)))
}

// newEvent has data of one shape of five.
func newEvent(r *rand.Rand) json.RawMessage {
	data := pick[any](r, jsonOf(`{"campaign":"Autumn","links":["https://a.example","https://b.example"],"step":%v}`, r.IntN(9)),
		jsonOf(`{"duration":%v,"recorded":%v}`, decimal(r, 600, 10), pick(r, true, false)), pick(r, "left a message", `asked for a "quote"`), decimal(r, 1000, 100), nil)
	return jsonOf(`{"type":%v,"at":%v,"data":%v}`, pick(r, "email_opened", "call", "meeting", "link_clicked"), moment(r), data)
}

// newNotes has long text with escapes, and values in quotes.
func newNotes(r *rand.Rand, i int) json.RawMessage {
	long := func() string {
		var all []string
		for range 2 + r.IntN(6) {
			all = append(all, pick(r, "Called at noon.\n", "Said \"not before March\",\tand asked for a quote.\n", "Knows us from the fair in São Paulo & wants the <new> plan; "+
				"will talk to purchasing, and comes back with the names of those who decide. ", "C:\\offers\\2026\\march ", "Ganz begeistert – würde sofort wechseln. "))
		}
		return strings.Join(all, "")
	}
	begin, handle := beginRow(r, i)
	return jsonOf(`{`+begin+`"name":%v,"notes":%v,"reply":%v,"at":%v,"number":%v,"share":%v,"certain":%v}`, handle, long(), long(), moment(r),
		strconv.Itoa(r.IntN(1000)), fmt.Sprint(decimal(r, 1, 100)), strconv.FormatBool(pick(r, true, false)))
}
