package main

import (
	"bytes"
	"io"
	"net/http"
	"sync"
)

// inProcess handles requests without a socket, to compare decoding, not the kernel.
type inProcess struct {
	service *service
	buffers sync.Pool
}

func newInProcess(perPage int) *http.Client {
	return &http.Client{Transport: &inProcess{newService(perPage), sync.Pool{New: func() any { return new(bytes.Buffer) }}}}
}

// RoundTrip renders the response before it returns.
func (t *inProcess) RoundTrip(req *http.Request) (*http.Response, error) {
	if req.Body != nil {
		defer req.Body.Close()
	}
	out := t.buffers.Get().(*bytes.Buffer) //nolint:forcetypeassert // nothing else is in it
	out.Reset()
	w := answerWriter{Buffer: out, header: make(http.Header), status: http.StatusOK}
	t.service.ServeHTTP(&w, req)
	return &http.Response{
		Status: http.StatusText(w.status), StatusCode: w.status, Proto: "HTTP/1.1", ProtoMajor: 1, ProtoMinor: 1,
		Header: w.header, Body: &pooledBody{out, t}, ContentLength: int64(out.Len()), Request: req,
	}, nil
}

type answerWriter struct {
	*bytes.Buffer

	header http.Header
	status int
}

func (w *answerWriter) Header() http.Header    { return w.header }
func (w *answerWriter) WriteHeader(status int) { w.status = status }

// pooledBody gives its buffer back when it is closed. It has no more methods than the body of a connection.
type pooledBody struct {
	buffer *bytes.Buffer
	owner  *inProcess
}

func (b *pooledBody) Read(p []byte) (int, error) {
	if b.buffer == nil {
		return 0, io.ErrClosedPipe
	}
	return b.buffer.Read(p)
}

func (b *pooledBody) Close() error {
	if b.buffer != nil {
		b.owner.buffers.Put(b.buffer)
		b.buffer = nil
	}
	return nil
}
