package otelprospectkit

import (
	"net/http"
	"time"

	"go.opentelemetry.io/otel/propagation"
)

// Propagate sends the trace along with every attempt: give it to [prospectkit.WithTransport]. Without it your traces are not sent to the
// service. A nil base means a new transport, which uses HTTP/1.1 like that of the client.
func Propagate(base http.RoundTripper, p propagation.TextMapPropagator) http.RoundTripper {
	if base == nil {
		transport := &http.Transport{
			Proxy: http.ProxyFromEnvironment, Protocols: new(http.Protocols), MaxIdleConnsPerHost: 64, IdleConnTimeout: 4 * time.Second,
		}
		transport.Protocols.SetHTTP1(true)
		base = transport
	}
	return propagator{base, p}
}

type propagator struct {
	base http.RoundTripper
	propagation.TextMapPropagator
}

// RoundTrip adds the headers to a copy of the request.
func (p propagator) RoundTrip(req *http.Request) (*http.Response, error) {
	req = req.Clone(req.Context())
	p.Inject(req.Context(), propagation.HeaderCarrier(req.Header))
	return p.base.RoundTrip(req)
}
