// Command web serves lists to users: each request ends within two seconds, and each error becomes the status by which proxies and browsers do the
// right thing. It runs on a sandbox in this process, until it is interrupted: curl -X POST 'http://127.0.0.1:8080/lists?name=Berlin'
package main

import (
	"context"
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
	listener, err := new(net.ListenConfig).Listen(ctx, "tcp", *addr)
	if err != nil {
		log.Fatal(err)
	}
	log.Println("listening on", listener.Addr())
	sb := sandbox.New(nil)
	client, err := prospectkit.New(sb.BaseURL(), sb.Token(), prospectkit.WithTransport(sb.Transport()))
	if err == nil {
		err = serve(ctx, listener, create(client))
	}
	stop()
	if err != nil {
		log.Fatal(err)
	}
}

// serve answers the requests in progress when the context ends, and returns then.
func serve(ctx context.Context, listener net.Listener, handler http.Handler) error {
	server, ended := &http.Server{Handler: handler, ReadTimeout: time.Second}, make(chan error)
	stop := context.AfterFunc(ctx, func() { ended <- server.Shutdown(context.WithoutCancel(ctx)) })
	if err := server.Serve(listener); stop() { // which returns as soon as Shutdown begins
		return err
	}
	return <-ended
}

// create makes a list. A browser that goes away does not cut it in the middle: what happened would then be unknown.
func create(client *prospectkit.Client) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		ctx, cancel := context.WithTimeout(context.WithoutCancel(r.Context()), 2*time.Second)
		defer cancel()
		ensured, err := client.Lists.Ensure(ctx, prospectkit.NewList{Name: r.FormValue("name")}) // a second click finds the list
		if err != nil {
			fail(w, err)
			return
		}
		fmt.Fprintln(w, ensured.List) // as JSON
	}
}

// fail answers with the status of the first case that fits. Proxies repeat a request after 502 to 504: these are for what was not applied.
func fail(w http.ResponseWriter, err error) {
	status, is := http.StatusBadGateway, func(class error) bool { return errors.Is(err, class) }
	after, _ := prospectkit.RetryAfter(err)
	switch {
	case prospectkit.OutcomeOf(err) != prospectkit.OutcomeNotApplied, is(prospectkit.ErrUnauthorized), is(prospectkit.ErrForbidden):
		status = http.StatusInternalServerError // it may have happened; or your key is at fault
	case is(prospectkit.ErrRateLimited):
		status = http.StatusServiceUnavailable
		w.Header().Set("Retry-After", strconv.Itoa(int(after.Seconds())+1))
	case is(prospectkit.ErrNotFound), is(prospectkit.ErrConflict), is(prospectkit.ErrInvalid), is(prospectkit.ErrInsufficientCredits), is(prospectkit.ErrSpendCap):
		status = http.StatusUnprocessableEntity
	}
	http.Error(w, fmt.Sprint(prospectkit.CodeOf(err)), status)
}
