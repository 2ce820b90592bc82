// Command secondperson lets a job send only what a second person has signed: one review, for a time, once. The service is a sandbox here.
package main

import (
	"context"
	"crypto/ed25519"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"log"
	"os"
	"time"

	"example.com/prospectkit"
	"example.com/prospectkit/journal"
	"example.com/prospectkit/sandbox"
)

// yes is what the second person signs: the digest of what they have seen, and until when it may be sent.
type yes struct {
	Digest, Who string
	Until       time.Time
	Signature   []byte
}

func (y yes) text() []byte {
	return fmt.Appendf(nil, "send once\n%s\n%q\n%d", y.Digest, y.Who, y.Until.Unix())
}

// sign runs where the private key is. It makes its own review, with the job's journal, which knows what was approved before.
func sign(ctx context.Context, client *prospectkit.Client, campaignID string, key ed25519.PrivateKey, agrees func(string) bool, file string) error {
	review, err := client.Campaigns.Review(ctx, campaignID)
	if err != nil || !agrees(review.String()) {
		return errors.Join(errors.New("not signed"), err)
	}
	y := yes{Digest: review.Digest(), Who: "grace", Until: time.Now().Add(time.Hour)}
	y.Signature = ed25519.Sign(key, y.text())
	text, err := json.Marshal(y)
	return errors.Join(err, os.WriteFile(file, text, 0o600))
}

// gate refuses each call that sends messages or writes into a CRM, unless the file has a yes to exactly that.
func gate(public ed25519.PublicKey, file string) func(context.Context, prospectkit.Intent) error {
	return func(_ context.Context, in prospectkit.Intent) error {
		if !in.Sends {
			return nil
		}
		var y yes
		text, _ := os.ReadFile(file) //nolint:gosec // G304: the file that the operator names
		switch {
		case json.Unmarshal(text, &y) != nil, in.Digest == "" || y.Digest != in.Digest || !ed25519.Verify(public, y.text(), y.Signature):
			return fmt.Errorf("nobody has signed this %s", in.Op)
		case !time.Now().Before(y.Until):
			return fmt.Errorf("the yes of %s has expired", y.Who)
		}
		return nil
	}
}

// send is the job: it approves what was signed. It can prepare everything, and send nothing without a yes.
func send(ctx context.Context, client *prospectkit.Client, campaignID, file string) error {
	var y yes
	text, err := os.ReadFile(file) //nolint:gosec // G304: the file that the operator names
	if err != nil || json.Unmarshal(text, &y) != nil {
		return errors.Join(errors.New("nobody has signed anything"), err)
	}
	_, err = client.Campaigns.Approve(ctx, campaignID, y.Digest, prospectkit.AllowResume()) // who signs has read whether it resumes
	return err                                                                              // nil, too, if an earlier start has done it
}

func demo(ctx context.Context, file string, out io.Writer) (err error) {
	j, err := journal.Open(file+".journal", "acme") // a yes that was used stays used when the job starts again
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, j.Close()) }()
	public, key, _ := ed25519.GenerateKey(nil) // the key stays with the second person
	sb, campaignID := sandbox.New(nil), ""
	sb.Do(func(tx *sandbox.Tx) {
		tx.ConnectAccount("email")
		campaignID = tx.CreateCampaign(sandbox.ReadyCampaign("Spring", tx.CreateList(sandbox.List{Name: "Berlin"})))
	})
	person, err := prospectkit.New(sb.BaseURL(), sb.Token(), prospectkit.WithTransport(sb.Transport()), prospectkit.WithJournal(j))
	if err != nil {
		return err
	}
	job, err := person.With(prospectkit.WithGate(gate(public, file)))
	if err != nil {
		return err
	}
	fmt.Fprintln(out, "Without a yes:", send(ctx, job, campaignID, file))
	agrees := func(s string) bool { _, err := fmt.Fprint(out, "\n", s, "\n\nSigned by grace.\n"); return err == nil }
	return errors.Join(sign(ctx, person, campaignID, key, agrees, file), send(ctx, job, campaignID, file))
}

func main() {
	if err := demo(context.Background(), "yes.json", os.Stdout); err != nil {
		log.Fatal(err)
	}
}
