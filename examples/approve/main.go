// Command approve lets a job send only what a person has signed. The person reads the review and types yes. The job may be killed and run again: it
// approves exactly that, once. It runs on a sandbox. With prospectkit.FromEnv, sign and send do the same at the service, and messages are sent.
package main

import (
	"bufio"
	"context"
	"crypto/ed25519"
	"errors"
	"fmt"
	"io"
	"log"
	"os"

	"example.com/prospectkit"
	"example.com/prospectkit/journal"
	"example.com/prospectkit/sandbox"
	"example.com/prospectkit/sandbox/fixture"
)

func main() {
	sb := sandbox.New(nil, sandbox.Seed(fixture.Small(1)))
	j := journal.NewMemory("acme")             // as long as the sandbox; for the service, a file that stays, by journal.Open
	public, key, _ := ed25519.GenerateKey(nil) // the key stays with the person
	client, err := prospectkit.New(sb.BaseURL(), sb.Token(), prospectkit.WithTransport(sb.Transport()), prospectkit.WithJournal(j),
		prospectkit.WithGate(gate(public, "yes.txt")))
	if err == nil {
		err = sign(context.Background(), client, sb.Campaigns()[0].ID, key, "yes.txt", os.Stdin, os.Stdout)
	}
	if err == nil {
		err = send(context.Background(), client, sb.Campaigns()[0].ID, "yes.txt")
	}
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println("approved")
}

// sign runs where the private key is, with the journal of the job, which knows earlier approvals. It signs what a person says yes to.
func sign(ctx context.Context, client *prospectkit.Client, campaignID string, key ed25519.PrivateKey, file string, in io.Reader, out io.Writer) error {
	review, err := client.Campaigns.Review(ctx, campaignID)
	if err != nil {
		return err
	}
	if _, err := fmt.Fprintf(out, "%s\n\nType yes to sign this: ", review); err != nil {
		return err // nobody has seen it
	}
	if answer, _ := bufio.NewReader(in).ReadString('\n'); answer != "yes\n" {
		return errors.New("nothing was signed")
	}
	text := fmt.Appendf(nil, "%s %x", review.Digest(), ed25519.Sign(key, []byte(review.Digest())))
	return os.WriteFile(file, text, 0o600)
}

// load reads what was signed, and the signature. Without a yes, both are empty, and nothing is sent.
func load(file string) (digest string, signature []byte) {
	text, _ := os.ReadFile(file) //nolint:gosec // G304: the file that the operator names
	_, _ = fmt.Sscanf(string(text), "%s %x", &digest, &signature)
	return digest, signature
}

// gate refuses each call that sends messages or writes into a CRM, unless it approves what was signed.
func gate(public ed25519.PublicKey, file string) func(context.Context, prospectkit.Intent) error {
	return func(_ context.Context, in prospectkit.Intent) error {
		if _, signature := load(file); in.Sends && !ed25519.Verify(public, []byte(in.Digest), signature) {
			return fmt.Errorf("nobody has signed this %s", in.Op)
		}
		return nil
	}
}

// send is the job. It can prepare everything, and send nothing without a yes.
func send(ctx context.Context, job *prospectkit.Client, campaignID, file string) error {
	if _, err := job.Recover(ctx); err != nil { // what an earlier start has left in doubt
		return err
	}
	digest, _ := load(file)
	_, err := job.Campaigns.Approve(ctx, campaignID, digest)
	return err // nil, too, if an earlier start has done it. After RuleReview, sign another review
}
