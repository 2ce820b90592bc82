package jsonscan

import (
	"fmt"
	"strings"
	"testing"
	"time"
)

// Records as the root package has them: lists and profiles, which keep their text.
type (
	listRecord struct {
		ID        string    `json:"id"`
		Name      string    `json:"name"`
		Kind      string    `json:"entityType"`
		Contacts  int       `json:"contactsCount"`
		Companies int       `json:"companiesCount"`
		Folder    string    `json:"folderId"`
		CreatedAt time.Time `json:"createdAt"`
		UpdatedAt time.Time `json:"updatedAt"`
		note      note      //nolint:unused // it is filled by its offset
	}
	profileRecord struct {
		First   string `json:"firstName"`
		Last    string `json:"lastName"`
		Title   string `json:"jobTitle"`
		Company string `json:"companyName"`
		Social  string `json:"socialUrl"`
		note    note   //nolint:unused // it is filled by its offset
	}
)

func BenchmarkRecords(b *testing.B) {
	var lists, profiles []string
	for i := range 1000 {
		lists = append(lists, fmt.Sprintf(`{"id":"%024x","name":"List number %[1]d","entityType":"contact","contactsCount":%[1]d,"companiesCount":0,"folderId":null,"createdAt":"2026-11-21T09:30:00.%03[1]dZ","updatedAt":"2026-11-22T09:30:00Z","owner":{"id":"x","name":"Ada"}}`, i))
		profiles = append(profiles, fmt.Sprintf(`{"firstName":"Ada","lastName":"Lovelace %d","jobTitle":"Head of Engines","companyName":"Babbage & Söhne","socialUrl":"https://social.example/in/ada-%[1]d","location":{"city":"Berlin","country":"Germany"},"skills":["a","b","c"]}`, i))
	}
	b.Run("lists", func(b *testing.B) {
		benchRecords[struct {
			Data []listRecord `json:"data"`
		}](b, `{"data":[`+strings.Join(lists, ",")+`]}`)
	})
	b.Run("profiles", func(b *testing.B) {
		benchRecords[struct {
			Profiles []profileRecord `json:"profiles"`
		}](b, `{"profiles":[`+strings.Join(profiles[:100], ",")+`],"scrollToken":"x"}`)
	})
	b.Run("small", func(b *testing.B) { benchRecords[listRecord](b, lists[0]) })
}

func benchRecords[T any](b *testing.B, text string) {
	b.Helper()
	b.ReportAllocs()
	for b.Loop() {
		c, d := New([]byte(text)), NewRecordDecoder[T]()
		var out T
		if err := d.Decode(&c, &out); err != nil {
			b.Fatal(err)
		}
		d.Release()
	}
}
