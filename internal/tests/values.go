package tests

import (
	"encoding/json"
	"net/http"
	"strings"

	"example.com/prospectkit"
	"example.com/prospectkit/internal/op"
)

// Monitor is a valid spec.
func Monitor() prospectkit.WebMonitor {
	return prospectkit.WebMonitor{ListName: "Funding", EntityType: prospectkit.MonitorCompanies, Prompt: "raised a round"}
}

// Watcher is a valid spec.
func Watcher() prospectkit.PeopleWatcher {
	return prospectkit.PeopleWatcher{ListName: "Movers", EventType: prospectkit.WatchProfileUpdates, ListID: ListID}
}

// Discovery is a valid spec.
func Discovery() prospectkit.PersonDiscovery {
	return prospectkit.PersonDiscovery{ListName: "Heads", Filters: prospectkit.Fields{"titleField": []string{"CEO"}}}
}

// CSVUpload is a file of comma-separated values.
func CSVUpload(text string) prospectkit.Upload {
	return prospectkit.UploadFrom("people.csv", int64(len(text)), strings.NewReader(text))
}

// JSONText writes a value as JSON.
func JSONText(v any) string {
	text, err := json.Marshal(v)
	if err != nil {
		panic(err)
	}
	return string(text)
}

// UnnamedOperation is one that the package has no method for.
func UnnamedOperation(class op.Class) prospectkit.Operation {
	method := http.MethodPost
	if class == op.Read {
		method = http.MethodGet
	}
	return OfClass(class, prospectkit.Operation{
		Name: "campaigns.stop", Method: method, Path: "/business/campaigns/" + ListID + "/stop",
		Surface: "campaigns",
	})
}
