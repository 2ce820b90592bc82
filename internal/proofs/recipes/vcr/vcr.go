// Package vcr records the responses of the service with go-vcr and replays them in tests, without the token in the file.
package vcr

import (
	"net/http"

	"gopkg.in/dnaeon/go-vcr.v4/pkg/cassette"
	"gopkg.in/dnaeon/go-vcr.v4/pkg/recorder"
)

// Recorder is a transport that replays the recording of a name, or makes one through next if there is none yet. Stop it at the end
// of the test: that writes the file.
func Recorder(name string, next http.RoundTripper) (*recorder.Recorder, error) {
	return recorder.New(name,
		recorder.WithMode(recorder.ModeRecordOnce),
		recorder.WithRealTransport(next),
		recorder.WithHook(redact, recorder.AfterCaptureHook),
		recorder.WithMatcher(cassette.NewDefaultMatcher(cassette.WithIgnoreAuthorization(), cassette.WithIgnoreUserAgent())),
		recorder.WithSkipRequestLatency(true),
	)
}

// redact removes the token before anything keeps it. Bodies stay, with the people of your lists: record a workspace of
// invented ones, or clean them here.
func redact(i *cassette.Interaction) error {
	i.Request.Headers.Del("Authorization")
	return nil
}
