// Command web serves lists to users: each request ends within two seconds, and each error becomes the status by which proxies and browsers
// do the right thing. It runs on a sandbox in this process, until it is interrupted: curl -X POST 'http://127.0.0.1:8080/lists?name=Berlin'
package main

import (
	"context"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"log"
	"net"
	"net/http"
	"os/signal"
	"strconv"
	"syscall"
	"time"

	"example.com/prospectkit"
	"example.com/prospectkit/sandbox"
)

func main() {
	addr := flag.String("addr", "127.0.0.1:8080", "the `address` to listen on")
	flag.Parse()
	ctx, stop := signal.NotifyContext(context.Background(), syscall.SIGINT, syscall.SIGTERM)
	err := run(ctx, *addr)
	stop()
	if err != nil {
		log.Fatal(err)
	}
}

func run(ctx context.Context, addr string) error {
	sb := sandbox.New(nil)
	client, err := prospectkit.New(sb.BaseURL(), sb.Token(), prospectkit.WithTransport(sb.Transport()), prospectkit.WithMaxWait(deadline))
	if err != nil {
		return err
	}
	listener, err := new(net.ListenConfig).Listen(ctx, "tcp", addr)
	if err != nil {
		return err
	}
	log.Println("listening on", listener.Addr())
	return serve(ctx, listener, handler(client))
}

const deadline = 2 * time.Second

// serve answers the requests in progress when the context ends, and returns then.
func serve(ctx context.Context, listener net.Listener, handler http.Handler) error {
	server, ended := &http.Server{Handler: handler, ReadTimeout: time.Second}, make(chan error)
	stop := context.AfterFunc(ctx, func() { ended <- server.Shutdown(context.WithoutCancel(ctx)) })
	if err := server.Serve(listener); stop() { // which returns as soon as Shutdown begins
		return err
	}
	return <-ended
}

func handler(client *prospectkit.Client) http.Handler {
	mux := http.NewServeMux()
	mux.HandleFunc("POST /lists", func(w http.ResponseWriter, r *http.Request) {
		// A browser that goes away does not cut a write in the middle: what happened would then be unknown.
		ctx, cancel := context.WithTimeout(context.WithoutCancel(r.Context()), deadline)
		defer cancel()
		ensured, err := client.Lists.Ensure(ctx, prospectkit.NewList{Name: r.FormValue("name")}) // a second click finds the list
		if err != nil {
			fail(w, err)
			return
		}
		w.Header().Set("Content-Type", "application/json")
		_ = json.NewEncoder(w).Encode(map[string]string{"id": ensured.List.ID, "name": ensured.List.Name})
	})
	return mux
}

// fail maps an error to a status: the first case that fits decides. Proxies repeat a request after 502 to 504, so these are for what
// was not applied.
func fail(w http.ResponseWriter, err error) {
	status, is := http.StatusBadGateway, func(class error) bool { return errors.Is(err, class) }
	after, _ := prospectkit.RetryAfter(err)
	switch {
	case prospectkit.OutcomeOf(err) != prospectkit.OutcomeNotApplied, is(prospectkit.ErrUnauthorized), is(prospectkit.ErrForbidden):
		status = http.StatusInternalServerError // it may have happened: 502 to 504 would invite a repetition; or your key is at fault
	case is(prospectkit.ErrRateLimited):
		status = http.StatusServiceUnavailable
		w.Header().Set("Retry-After", strconv.Itoa(int(after.Seconds())+1))
	case is(prospectkit.ErrInsufficientCredits), is(prospectkit.ErrSpendCap):
		status = http.StatusPaymentRequired
	case is(prospectkit.ErrNotFound):
		status = http.StatusNotFound
	case is(prospectkit.ErrConflict):
		status = http.StatusConflict
	case is(prospectkit.ErrInvalid):
		status = http.StatusUnprocessableEntity
	case is(context.DeadlineExceeded):
		status = http.StatusGatewayTimeout
	}
	http.Error(w, fmt.Sprint(prospectkit.CodeOf(err)), status)
}
