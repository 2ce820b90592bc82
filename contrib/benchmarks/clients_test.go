package benchmarks

import (
	"context"
	"encoding/json"
	"errors"
	"io"
	"net/http"

	"github.com/Azure/azure-sdk-for-go/sdk/azcore"
	"github.com/Azure/azure-sdk-for-go/sdk/azcore/policy"
	"github.com/Azure/azure-sdk-for-go/sdk/azcore/runtime"
	"github.com/google/go-github/v92/github"

	"example.com/prospectkit"
)

// A client is one way to do the works. All send through one http.Client.
type client struct {
	name string
	open func(base string, h *http.Client) (session, error)
}

// session is an open client: a get, or prospectkit's.
type session struct {
	get  get
	ours *prospectkit.Client
}

// get makes one call, in the way that a client's documentation shows for requests of one's own.
type get func(ctx context.Context, path string, out any) error

// clients are by hand first, then prospectkit.
func clients() []client {
	all := []client{{"by hand", hand(decodeStream)}, {"prospectkit", openOurs}, {"go-github", openGitHub}, {"azcore", openAzure}}
	if decodeV2 != nil {
		all = append(all, client{"json/v2", hand(decodeV2)})
	}
	return all
}

// openOurs opens prospectkit with its default transport, unless there is another.
func openOurs(base string, h *http.Client) (session, error) {
	var options []prospectkit.ClientOption
	if _, std := h.Transport.(*http.Transport); !std {
		options = append(options, prospectkit.WithHTTPClient(h))
	}
	client, err := prospectkit.New(base, token, options...)
	return session{ours: client}, err
}

// problem is the service's error, for the programs by hand.
type problem struct {
	Err struct {
		Code      string `json:"code"`
		Message   string `json:"message"`
		Param     string `json:"param"`
		DocURL    string `json:"doc_url"`
		RequestID string `json:"request_id"`
	} `json:"error"`
}

func (p *problem) Error() string { return p.Err.Code + ": " + p.Err.Message }

// isMissing reports whether an error is a client's typed error of a 404. go-github's has no place for the service's code.
func isMissing(err error) bool {
	if p, ok := errors.AsType[*problem](err); ok {
		return p.Err.Code == missingCode
	}
	if e, ok := errors.AsType[*azcore.ResponseError](err); ok {
		return e.ErrorCode == missingCode
	}
	e, ok := errors.AsType[*github.ErrorResponse](err)
	return ok && e.Response.StatusCode == http.StatusNotFound
}

// hand is the program by hand with a decoder.
func hand(decode func(res *http.Response, out any) error) func(string, *http.Client) (session, error) {
	return func(base string, h *http.Client) (session, error) {
		return session{get: func(ctx context.Context, path string, out any) error {
			req, err := http.NewRequestWithContext(ctx, http.MethodGet, base+path, http.NoBody)
			if err != nil {
				return err
			}
			req.SetBasicAuth(token, "")
			res, err := h.Do(req)
			if err != nil {
				return err
			}
			defer res.Body.Close()
			if res.StatusCode == http.StatusOK {
				return decode(res, out)
			}
			p := new(problem)
			if err := decode(res, p); err != nil {
				return err
			}
			return p
		}}, nil
	}
}

func decodeStream(res *http.Response, out any) error { return json.NewDecoder(res.Body).Decode(out) }

// decodeV2 is encoding/json/v2, which Go has since 1.27.
var decodeV2 func(res *http.Response, out any) error

// drop decodes nothing.
func drop(res *http.Response, _ any) error {
	_, err := io.Copy(io.Discard, res.Body)
	return err
}

func openGitHub(base string, h *http.Client) (session, error) {
	base += "/"
	client, err := github.NewClient(github.WithURLs(&base, &base), github.WithAuthToken(token), github.WithHTTPClient(h))
	return session{get: func(ctx context.Context, path string, out any) error {
		req, err := client.NewRequest(ctx, http.MethodGet, path[1:], nil)
		if err != nil {
			return err
		}
		_, err = client.Do(req, out)
		return err
	}}, err
}

func openAzure(base string, h *http.Client) (session, error) {
	options := &policy.ClientOptions{InsecureAllowCredentialWithHTTP: true, Transport: h}
	key := runtime.NewKeyCredentialPolicy(azcore.NewKeyCredential(token), "Authorization", &runtime.KeyCredentialPolicyOptions{
		Prefix: "Basic ", InsecureAllowCredentialWithHTTP: true,
	})
	pipeline := runtime.NewPipeline("benchmarks", "v1.0.0", runtime.PipelineOptions{PerRetry: []policy.Policy{key}}, options)
	return session{get: func(ctx context.Context, path string, out any) error {
		req, err := runtime.NewRequest(ctx, http.MethodGet, base+path)
		if err != nil {
			return err
		}
		res, err := pipeline.Do(req) //nolint:bodyclose // the pipeline has read and closed it
		if err != nil {
			return err
		}
		if !runtime.HasStatusCode(res, http.StatusOK) {
			return runtime.NewResponseError(res)
		}
		return runtime.UnmarshalAsJSON(res, out)
	}}, nil
}
